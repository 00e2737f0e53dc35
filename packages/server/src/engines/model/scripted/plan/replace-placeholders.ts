import { Stride } from '../../../../base/in-slices.ts';

/** `{{name}}`, or `{{find:pattern}}`, which ends at the first `}}` and has no line break. */
export interface Placeholder {
  readonly name: PlaceholderName | 'find';
  readonly pattern?: string;
}

type PlaceholderName = (typeof NAMES)[number];

const NAMES = ['last_user', 'last_result', 'results', 'n', 'agent'] as const;

/**
 * The text with each placeholder replaced; similar text is unchanged. In one pass for any text: a regular
 * expression would search for an end from each beginning.
 */
export function* replacePlaceholders(
  text: string,
  replace: (placeholder: Placeholder) => string,
): Generator<void, string> {
  const stride = new Stride();
  const ends = new Cursor((from) => text.indexOf('}}', from));
  const lineBreaks = new Cursor((from) => indexOfLineBreak(text, from));
  const parts: string[] = [];
  let done = 0;
  for (let at = text.indexOf('{{'); at !== -1; ) {
    if (stride.isOver()) yield;
    const found = readName(text, at + 2) ?? readFind(text, at + 2, ends, lineBreaks);
    if (found === undefined) {
      at = text.indexOf('{{', at + 1);
      continue;
    }
    parts.push(text.slice(done, at), replace(found.placeholder));
    done = found.end;
    at = text.indexOf('{{', done);
  }
  return done === 0 ? text : parts.join('') + text.slice(done);
}

interface Found {
  readonly placeholder: Placeholder;
  readonly end: number;
}

function readName(text: string, from: number): Found | undefined {
  const name = NAMES.find((each) => text.startsWith(`${each}}}`, from));
  return name === undefined ? undefined : { placeholder: { name }, end: from + name.length + 2 };
}

function readFind(text: string, at: number, ends: Cursor, lineBreaks: Cursor): Found | undefined {
  if (!text.startsWith(FIND, at)) return undefined;
  const from = at + FIND.length;
  // A pattern has at least one character.
  const to = ends.next(from + 1);
  if (to === -1) return undefined;
  const lineBreak = lineBreaks.next(from);
  if (lineBreak !== -1 && lineBreak < to) return undefined;
  return { placeholder: { name: 'find', pattern: text.slice(from, to) }, end: to + 2 };
}

const FIND = 'find:';

/** Finds the next position of a text. With increasing positions, it reads each character once. */
class Cursor {
  readonly #find: (from: number) => number;
  #at: number | undefined;

  constructor(find: (from: number) => number) {
    this.#find = find;
  }

  /** The next position from `from` on; -1 if there is none. */
  next(from: number): number {
    if (this.#at === undefined || (this.#at !== -1 && this.#at < from)) this.#at = this.#find(from);
    return this.#at;
  }
}

function indexOfLineBreak(text: string, from: number): number {
  const lineBreak = /[\n\r\u2028\u2029]/g;
  lineBreak.lastIndex = from;
  return lineBreak.exec(text)?.index ?? -1;
}
