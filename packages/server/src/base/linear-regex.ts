import { RE2JS, RE2JSException } from 're2js';

/** A pattern from outside (a user, an agent, a script), matched in time linear in the text: no backtracking. */
export interface LinearPattern {
  readonly source: string;
  /** Number of compiled instructions, which is the most steps for one character of a text. */
  readonly size: number;
  /** Whether the pattern occurs anywhere in the text. */
  test(text: string): boolean;
  /** All matches from the left. Finding one match takes linear time. */
  findAll(text: string): Iterable<LinearMatch>;
}

/** A match with its groups. */
export interface LinearMatch {
  readonly text: string;
  /** The text of each group, in order; undefined for a group that did not take part. */
  readonly groups: readonly (string | undefined)[];
}

/** The pattern is not valid RE2 syntax, or too large. The message contains the reason. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/**
 * Compiles a pattern that must never reach V8's RegExp, which takes exponential time for some of them.
 * RE2 has no look-around and no back-references.
 */
export function compilePattern(source: string): LinearPattern {
  const compiled = compile(source);
  return {
    source,
    size: compiled.programSize(),
    // Not a matcher: a matcher also finds the position, which takes up to 400 times as long for large repetitions.
    test: (text) => compiled.test(text),
    findAll: (text) => findAll(compiled, text),
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (error instanceof RE2JSException) throw new PatternError(describe(source, error.message), { cause: error });
    throw error;
  }
}

function* findAll(compiled: RE2JS, text: string): Generator<LinearMatch> {
  const matcher = compiled.matcher(text);
  while (matcher.find()) {
    const groups = Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1) ?? undefined);
    yield { text: matcher.group() ?? '', groups };
  }
}

/** Names JavaScript syntax that RE2 lacks; the library describes all other errors. */
function describe(source: string, message: string): string {
  const plain = message.replace(/^error parsing regexp: /, '');
  const missing = UNSUPPORTED.find(({ sign }) => sign.test(plain) && sign.test(source));
  return missing === undefined ? plain : `${plain}: ${missing.name} are not supported`;
}

const UNSUPPORTED = [
  { sign: /\(\?<?[=!]/, name: 'look-ahead and look-behind' },
  { sign: /\\[1-9]|\\k/, name: 'back-references' },
  { sign: /\(\?>/, name: 'atomic groups' },
  { sign: /\\u/, name: String.raw`\u escapes (write \x{…})` },
  { sign: /\\c/, name: 'control escapes (write \\x{…})' },
];
