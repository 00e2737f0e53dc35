import { PatternError } from '../../../../base/linear-regex.ts';
import { checkTurn } from './check-step.ts';
import { digestPieces } from '../digest.ts';
import { readJson, writeCanonical } from '../json.ts';
import { limits } from '../limits.ts';
import { compileMatch } from './match-text.ts';
import { InvalidInput } from './invalid-input.ts';
import { type Fields, join, readFields, readList, readName, readWhole, refuseOthers } from './read-fields.ts';
import type { Case, ClaimedUsage, Script, Turn } from './script.ts';

/** Checks and converts an untrusted value to a script. Throws a {@link InvalidInput} with the path of the error. */
export function* checkScript(value: unknown): Generator<void, Script> {
  const fields = readFields(value, '');
  refuseOthers(fields, '', ['turns', 'when', 'else', 'usage']);
  const common = {
    usage: checkUsage(fields['usage']),
    digest: yield* digestPieces('script', yield* writeCanonical(yield* readJson(value, '', limits.depthMax))),
  };
  if (fields['turns'] === undefined && fields['when'] === undefined) {
    throw new InvalidInput('', 'needs `turns`, a list of turns, or `when`, a list of cases');
  }
  if (fields['when'] !== undefined) return { ...(yield* checkCases(fields)), ...common };
  if (fields['else'] !== undefined) throw new InvalidInput('else', 'goes with `when`, and there is none');
  const turns: Turn[] = [];
  for (const [index, turn] of readList(fields['turns'], 'turns', { min: 1, max: limits.turnsMax }).entries()) {
    turns.push(yield* checkTurn(turn, `turns[${index}]`));
  }
  return { type: 'turns', turns, ...common };
}

function* checkCases(fields: Fields): Generator<void, Pick<WhenScript, 'type' | 'cases' | 'otherwise'>> {
  if (fields['turns'] !== undefined) throw new InvalidInput('turns', 'stands beside `when`; keep one of them');
  const cases: Case[] = [];
  const matches = new MatchSizes();
  for (const [index, item] of readList(fields['when'], 'when', { min: 1, max: limits.turnsMax }).entries()) {
    cases.push(yield* checkCase(item, `when[${index}]`, matches));
  }
  const otherwise = fields['else'];
  return { type: 'when', cases, otherwise: otherwise === undefined ? undefined : yield* checkTurn(otherwise, 'else') };
}

type WhenScript = Extract<Script, { type: 'when' }>;

function* checkCase(value: unknown, path: string, matches: MatchSizes): Generator<void, Case> {
  const fields = readFields(value, path);
  refuseOthers(fields, path, ['match', 'turn']);
  const match = checkMatch(fields['match'], `${path}.match`, matches);
  return { match, turn: yield* checkTurn(fields['turn'], `${path}.turn`) };
}

/** Sums the sizes of the regular expressions of a script: each is compiled, which takes time. */
class MatchSizes {
  #sum = 0;

  add(size: number, path: string): void {
    this.#sum += size;
    if (this.#sum <= limits.matchSizeMax) return;
    const most = `the regular expressions up to here have ${this.#sum} instructions, and ${limits.matchSizeMax} are allowed`;
    throw new InvalidInput(path, `${most}: use simpler ones, or fewer cases`);
  }
}

function checkMatch(value: unknown, path: string, matches: MatchSizes): string {
  const match = readName(value, path);
  if (match.length > limits.matchCharsMax) {
    throw new InvalidInput(path, `has ${match.length} characters, and ${limits.matchCharsMax} are allowed`);
  }
  try {
    matches.add(compileMatch(match).size, path);
    return match;
  } catch (error) {
    if (error instanceof PatternError) throw new InvalidInput(path, `must be a regular expression: ${error.message}`);
    throw error;
  }
}

const usageFields = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
] as const satisfies readonly (keyof ClaimedUsage)[];

function checkUsage(value: unknown): ClaimedUsage {
  if (value === undefined) return {};
  const fields = readFields(value, 'usage');
  refuseOthers(fields, 'usage', usageFields);
  const claimed = usageFields.filter((name) => fields[name] !== undefined);
  const range = { min: 0, max: limits.tokensMax };
  return Object.fromEntries(claimed.map((name) => [name, readWhole(fields[name], join('usage', name), range)]));
}
