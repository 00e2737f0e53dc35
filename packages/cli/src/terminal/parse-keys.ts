/** A pressed key: a named key, or the character it types. */
export type Key = NamedKey | { readonly typed: string };
export type NamedKey =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'tab'
  | 'escape'
  | 'backspace'
  | 'clear-line'
  | 'interrupt'
  | 'suspend';

/** Parses terminal input into keys. Unknown escape sequences are dropped as a whole, so that they do not type characters. */
export function parseKeys(text: string): Key[] {
  return Array.from(text.matchAll(PIECES), ([piece]) => toKey(piece)).filter((key) => key !== undefined);
}

/** Escape sequences with and without parameters, then single graphemes. */
// oxlint-disable-next-line no-control-regex -- terminals send them
const PIECES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001bO[A-Za-z]|\r\n|\P{Mark}\p{Mark}*/gsu;

function toKey(piece: string): Key | undefined {
  const named = NAMES[piece];
  if (named !== undefined) return named;
  // oxlint-disable-next-line no-control-regex -- other control characters type nothing
  return /[\u0000-\u001f\u007f]/.test(piece) ? undefined : { typed: piece };
}

const NAMES: Readonly<Record<string, NamedKey | undefined>> = {
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  '\u001b[C': 'right',
  '\u001bOC': 'right',
  '\u001b[D': 'left',
  '\u001bOD': 'left',
  '\u001b[5~': 'page-up',
  '\u001b[6~': 'page-down',
  '\u001b[H': 'home',
  '\u001bOH': 'home',
  '\u001b[1~': 'home',
  '\u001b[F': 'end',
  '\u001bOF': 'end',
  '\u001b[4~': 'end',
  '\t': 'tab',
  '\r': 'enter',
  '\n': 'enter',
  '\r\n': 'enter',
  '\u001b': 'escape',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0015': 'clear-line',
  '\u0003': 'interrupt',
  '\u001a': 'suspend',
};
