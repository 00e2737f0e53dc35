import { type AskRule, toRuleText } from '@fleetloom/protocol/fleet';
import type { Ask } from './asks.ts';

/**
 * What may be done without asking again, as long as this view is open. `*` stands for anything on one line; in a command
 * it stands for nothing that could begin another command, so that leave for `git *` is none for `git log; rm -rf .`.
 */
export type Rule = AskRule;

/** The narrowest rule that allows this, for somebody to make wider. */
export function toRule({ tool, input }: Ask): Rule {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const texts = fields.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const [field = null] = TELLING.flatMap((name) => texts.filter(([each]) => each === name).map(([each]) => each));
  const only = field ?? (fields.length === 1 ? (texts[0]?.[0] ?? null) : null);
  return { tool, field: only, pattern: valueOf(input, only) };
}

/** All of it, however long: who makes a rule sees it whole. */
export function describeRule(rule: Rule): string {
  return toRuleText(rule, Number.POSITIVE_INFINITY);
}

export function isAllowed({ tool, field, pattern }: Rule, ask: Ask): boolean {
  if (ask.type !== 'approval' || ask.tool !== tool) return false;
  const stops = field === 'command' ? /[;&|<>$(){}`\\\n\r]/ : /[\n\r]/;
  return matches(pattern, valueOf(ask.input, field), stops);
}

/** Fields that say what a call is about; the others are free. */
const TELLING = ['command', 'file_path', 'path', 'notebook_path', 'url', 'query', 'pattern'];

function valueOf(input: unknown, field: string | null): string {
  if (field === null) return JSON.stringify(input) ?? '';
  // Only objects have a field here; one that lacks it matches no pattern but the empty one.
  const value = (input as Readonly<Record<string, unknown>> | null)?.[field];
  return typeof value === 'string' ? value : '';
}

/** No star reaches over a stop, so both are cut there and compared piece by piece. */
function matches(pattern: string, text: string, stops: RegExp): boolean {
  const cut = new RegExp(`(${stops.source})`);
  const [wanted, given] = [pattern.split(cut), text.split(cut)];
  if (text === '' || wanted.length !== given.length) return false;
  return wanted.every((piece, index) => {
    const other = given[index] ?? '';
    return index % 2 === 1 ? piece === other : isLike(piece, other);
  });
}

/** In time of both lengths multiplied, whatever the stars: a pattern is typed by somebody, the text is not. */
function isLike(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let from = first.length;
  return rest.every((piece) => {
    const at = text.indexOf(piece, from);
    from = at + piece.length;
    return at !== -1 && from <= end;
  });
}
