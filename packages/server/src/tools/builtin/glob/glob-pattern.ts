import { ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';

/**
 * A glob: `*` and `?` within a name, `**` for any number of directories, `[a-z]` and `[!a]` for one character, `{a,b}` for
 * either, and a backslash before a literal character. Names that begin with a dot are not special.
 *
 * It is matched name by name on the way down a tree, so a directory is read only if something in it can match.
 *
 * Does not use regular expressions: a pattern comes from a model, and some take exponential time. This takes time in proportion to
 * the length of the path times the total length of all alternatives of the braces, which is bounded.
 *
 * @example
 * const glob = new GlobPattern('src/*.ts', limits);
 * const inside = glob.enter(glob.start, 'src');
 * if (inside !== undefined) glob.fits(inside, 'main.ts'); // true
 */
export class GlobPattern {
  /** The state for names directly below the searched directory. */
  readonly start: GlobPlaces;
  /** The parts of all alternatives, one alternative after the other, each with its end. */
  readonly #parts: readonly (Part | 'end')[];
  /** For each part: whether it may be the last one of its alternative. */
  readonly #isLast: readonly boolean[];

  constructor(pattern: string, bounds: GlobBounds) {
    const alternatives = expandBraces(pattern, bounds).map((each) => each.split('/').filter(isPart).map(parseName));
    const parts = alternatives.flatMap((each) => [...each, 'end' as const]);
    const isLast = parts.map((part) => part === 'end');
    for (let at = parts.length - 2; at >= 0; at--) isLast[at] ||= parts[at] === '**' && isLast[at + 1]!;
    this.#parts = parts;
    this.#isLast = isLast;
    const starts = alternatives.map((each, at) =>
      alternatives.slice(0, at).reduce((sum, { length }) => sum + length + 1, 0),
    );
    this.start = this.#reach(starts);
  }

  /** The state in a directory of this name; undefined if nothing in it can match. */
  enter(places: GlobPlaces, directory: string): GlobPlaces | undefined {
    const next: number[] = [];
    for (const at of places) {
      const part = this.#parts[at]!;
      if (part === '**') next.push(at);
      else if (part !== 'end' && matchName(part, directory)) next.push(at + 1);
    }
    const reached = this.#reach(next);
    return reached.every((at) => this.#parts[at] === 'end') ? undefined : reached;
  }

  /** Whether a file of this name matches. */
  fits(places: GlobPlaces, name: string): boolean {
    return places.some((at) => {
      const part = this.#parts[at]!;
      if (part === '**') return this.#isLast[at];
      return part !== 'end' && this.#isLast[at + 1] && matchName(part, name);
    });
  }

  /** Adds the states that follow without a name, because `**` also matches no directory. */
  #reach(places: readonly number[]): GlobPlaces {
    const reached = new Set<number>();
    for (const place of places) {
      let at = place;
      // The states that follow a known state are known, too.
      while (!reached.has(at)) {
        reached.add(at);
        if (this.#parts[at] === '**') at++;
      }
    }
    return [...reached];
  }
}

/** How far a path has matched so far: the parts that its next name may match. */
export type GlobPlaces = readonly number[];

/** The limits of the alternatives of braces. */
export type GlobBounds = Pick<ToolLimits, 'globAlternativesMax' | 'globAlternativesCharsMax'>;

type Part = '**' | NamePart;

/** A name pattern, with its literal beginning and end, which are compared first. */
interface NamePart {
  readonly begin: string;
  readonly end: string;
  /** The tokens between beginning and end; null if the name is literal. */
  readonly middle: readonly Token[] | null;
}

type Token =
  | { readonly type: 'any' }
  | { readonly type: 'one' }
  | { readonly type: 'literal'; readonly character: string }
  | { readonly type: 'set'; readonly isNegated: boolean; readonly ranges: readonly (readonly [string, string])[] };

function isPart(part: string): boolean {
  return part !== '' && part !== '.';
}

/** Expands the braces of a pattern to patterns without braces. */
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

/** The first group of braces that contains a comma. Other braces are literal. */
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

/** The alternatives up to the closing brace; `undefined` without one. */
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
  return toNamePart(tokens);
}

function toNamePart(tokens: readonly Token[]): NamePart {
  const first = tokens.findIndex((token) => !isPlain(token));
  if (first === -1) return { begin: toText(tokens), end: '', middle: null };
  const last = tokens.findLastIndex((token) => !isPlain(token));
  return {
    begin: toText(tokens.slice(0, first)),
    end: toText(tokens.slice(last + 1)),
    middle: tokens.slice(first, last + 1),
  };
}

/** Whether a token is a literal that can be compared as text. Half of a surrogate pair could match half of a pair in a name. */
function isPlain(token: Token): boolean {
  return token.type === 'literal' && !/^\p{Surrogate}$/u.test(token.character);
}

function toText(tokens: readonly Token[]): string {
  return tokens.map((token) => (token.type === 'literal' ? token.character : '')).join('');
}

/** `[abc]`, `[a-z]`, `[!a]`, `[]x]`; without a closing bracket it is literal. */
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

function matchName({ begin, end, middle }: NamePart, name: string): boolean {
  if (middle === null) return name === begin;
  if (name.length < begin.length + end.length || !name.startsWith(begin) || !name.endsWith(end)) return false;
  if (middle.length === 1 && middle[0]!.type === 'any') return true;
  return matchTokens(middle, Array.from(name.slice(begin.length, name.length - end.length)));
}

/** Matches tokens. On a mismatch the last `*` takes one more character; earlier ones need not be tried again. */
function matchTokens(tokens: readonly Token[], characters: readonly string[]): boolean {
  let at = 0;
  let character = 0;
  let wildAt = -1;
  let wildCharacter = 0;
  while (character < characters.length) {
    const token = tokens[at];
    if (token?.type === 'any') {
      wildAt = at++;
      wildCharacter = character;
    } else if (token !== undefined && matchCharacter(token, characters[character]!)) {
      at++;
      character++;
    } else if (wildAt === -1) return false;
    else {
      at = wildAt + 1;
      character = ++wildCharacter;
    }
  }
  return tokens.slice(at).every(({ type }) => type === 'any');
}

function matchCharacter(token: Token, character: string): boolean {
  if (token.type === 'literal') return token.character === character;
  if (token.type === 'set') {
    return token.ranges.some(([low, high]) => low <= character && character <= high) !== token.isNegated;
  }
  return token.type === 'one';
}
