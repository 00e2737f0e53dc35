import { ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';

/** Says whether a path, with `/` between its parts, fits. */
export type GlobPattern = (path: string) => boolean;

/**
 * Reads a glob: `*` and `?` within a name, `**` for any number of directories, `[a-z]` and `[!a]` for one character,
 * `{a,b}` for either, and a backslash before what is meant literally. Names that begin with a dot are names like others.
 *
 * No regular expressions: a pattern comes from a model, and some take forever there. This takes time in proportion to
 * the length of the path times that of all patterns that the braces stand for, which together are bounded.
 */
export function parseGlob(pattern: string, bounds: GlobBounds): GlobPattern {
  const alternatives = expandBraces(pattern, bounds).map((each) => each.split('/').filter(isPart).map(parseName));
  return (path) => {
    const names = path.split('/').map((name) => Array.from(name));
    return alternatives.some((parts) => matchParts(parts, names));
  };
}

/** How much braces may stand for. */
export type GlobBounds = Pick<ToolLimits, 'globAlternativesMax' | 'globAlternativesCharsMax'>;

type Part = '**' | readonly Token[];

type Token =
  | { readonly type: 'any' }
  | { readonly type: 'one' }
  | { readonly type: 'literal'; readonly character: string }
  | { readonly type: 'set'; readonly isNegated: boolean; readonly ranges: readonly (readonly [string, string])[] };

function isPart(part: string): boolean {
  return part !== '' && part !== '.';
}

/** The patterns without braces that a pattern stands for. */
function expandBraces(
  pattern: string,
  { globAlternativesMax: max, globAlternativesCharsMax: charsMax }: GlobBounds,
): string[] {
  let pending = [pattern];
  const done: string[] = [];
  while (pending.length > 0) {
    const next: string[] = [];
    for (const each of pending) {
      const group = findGroup(each);
      if (group === undefined) done.push(each);
      else next.push(...group.options.map((option) => group.before + option + group.after));
      if (done.length + next.length > max) {
        throw new ToolFailure(`the pattern stands for more than ${max} patterns: use fewer braces`);
      }
    }
    if (countChars(done) + countChars(next) > charsMax) {
      throw new ToolFailure(`the pattern stands for patterns of more than ${charsMax} characters: use fewer braces`);
    }
    pending = next;
  }
  return done;
}

function countChars(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** The first group of braces with a comma in it. Others are meant literally. */
function findGroup(pattern: string): { before: string; options: string[]; after: string } | undefined {
  for (let begin = 0; begin < pattern.length; begin++) {
    if (pattern[begin] === '\\') begin++;
    else if (pattern[begin] === '{') {
      const options = readOptions(pattern, begin + 1);
      if (options === undefined) return undefined;
      if (options.texts.length > 1) {
        return { before: pattern.slice(0, begin), options: options.texts, after: pattern.slice(options.end + 1) };
      }
    }
  }
  return undefined;
}

/** What stands between commas up to the closing brace; `undefined` where none closes. */
function readOptions(pattern: string, begin: number): { texts: string[]; end: number } | undefined {
  const texts: string[] = [];
  let depth = 0;
  let from = begin;
  for (let at = begin; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '{') depth++;
    else if (character === ',' && depth === 0) {
      texts.push(pattern.slice(from, at));
      from = at + 1;
    } else if (character === '}' && depth-- === 0) return { texts: [...texts, pattern.slice(from, at)], end: at };
  }
  return undefined;
}

function parseName(name: string): Part {
  if (name === '**') return '**';
  const characters = Array.from(name);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    const set = character === '[' ? readSet(characters, at) : undefined;
    if (set !== undefined) {
      tokens.push(set.token);
      at = set.end;
    } else if (character === '\\' && at + 1 < characters.length) {
      tokens.push({ type: 'literal', character: characters[++at] ?? '' });
    } else if (character === '*') {
      if (tokens.at(-1)?.type !== 'any') tokens.push({ type: 'any' });
    } else tokens.push(character === '?' ? { type: 'one' } : { type: 'literal', character });
  }
  return tokens;
}

/** `[abc]`, `[a-z]`, `[!a]`, `[]x]`; without its end the bracket is meant literally. */
function readSet(characters: readonly string[], begin: number): { token: Token; end: number } | undefined {
  let at = begin + 1;
  const isNegated = characters[at] === '!' || characters[at] === '^';
  if (isNegated) at++;
  const ranges: [string, string][] = [];
  for (const first = at; at < characters.length; at++) {
    if (characters[at] === ']' && at > first) return { token: { type: 'set', isNegated, ranges }, end: at };
    if (characters[at] === '\\' && at + 1 < characters.length) at++;
    const low = characters[at] ?? '';
    const high = characters[at + 1] === '-' ? characters[at + 2] : undefined;
    const isRange = high !== undefined && high !== ']';
    ranges.push([low, isRange ? high : low]);
    if (isRange) at += 2;
  }
  return undefined;
}

/** `**` may take any number of names: on a mismatch the last one takes one more, and none before it has to be asked again. */
function matchParts(parts: readonly Part[], names: readonly (readonly string[])[]): boolean {
  return matchSequence(
    parts,
    names,
    (part) => part === '**',
    (part, name) => part !== '**' && matchName(part, name),
  );
}

function matchName(tokens: readonly Token[], name: readonly string[]): boolean {
  return matchSequence(tokens, name, ({ type }) => type === 'any', matchCharacter);
}

function matchCharacter(token: Token, character: string): boolean {
  if (token.type === 'literal') return token.character === character;
  if (token.type === 'set') {
    return token.ranges.some(([low, high]) => low <= character && character <= high) !== token.isNegated;
  }
  return token.type === 'one';
}

/** A pattern with wildcards against a sequence, in steps that are no more than the product of both lengths. */
function matchSequence<Pattern, Item>(
  pattern: readonly Pattern[],
  items: readonly Item[],
  isWild: (pattern: Pattern) => boolean,
  fits: (pattern: Pattern, item: Item) => boolean,
): boolean {
  let at = 0;
  let item = 0;
  let wildAt = -1;
  let wildItem = 0;
  while (item < items.length) {
    const current = pattern[at];
    // Both are inside of their sequences, whatever the types of the elements.
    if (at < pattern.length && isWild(current as Pattern)) {
      wildAt = at++;
      wildItem = item;
    } else if (at < pattern.length && fits(current as Pattern, items[item] as Item)) {
      at++;
      item++;
    } else if (wildAt === -1) return false;
    else {
      at = wildAt + 1;
      item = ++wildItem;
    }
  }
  return pattern.slice(at).every(isWild);
}
