/** How the lines of a file end. */
export type LineEnding = 'lf' | 'crlf';

/** The ending of all lines of a text; undefined if it has no lines or uses both endings. */
export function findLineEnding(content: Buffer): LineEnding | undefined {
  let found: LineEnding | undefined;
  for (let at = content.indexOf(LF); at !== -1; at = content.indexOf(LF, at + 1)) {
    const ending = content[at - 1] === CR ? 'crlf' : 'lf';
    if (found !== undefined && found !== ending) return undefined;
    found = ending;
  }
  return found;
}

/** The text with another line ending. Lines that have this ending already stay unchanged. */
export function withLineEnding(content: Buffer, ending: LineEnding): Buffer {
  // Decoded as one character for each byte, so that other bytes stay unchanged.
  const text = content.toString('latin1').replaceAll('\r\n', '\n');
  return Buffer.from(ending === 'lf' ? text : text.replaceAll('\n', '\r\n'), 'latin1');
}

const CR = 0x0d;
const LF = 0x0a;
