/** How the lines of a file end. Undefined: it has no lines, or ends them in both ways. */
export type LineEnding = 'lf' | 'crlf';

/** The one way in which all lines of a text end. */
export function findLineEnding(content: Buffer): LineEnding | undefined {
  let found: LineEnding | undefined;
  for (let at = content.indexOf(LF); at !== -1; at = content.indexOf(LF, at + 1)) {
    const ending = content[at - 1] === CR ? 'crlf' : 'lf';
    if (found !== undefined && found !== ending) return undefined;
    found = ending;
  }
  return found;
}

/** The same lines with other ends. A line that ends in that way already stays as it is. */
export function withLineEnding(content: Buffer, ending: LineEnding): Buffer {
  // Each byte as one character, so that no byte changes.
  const text = content.toString('latin1').replaceAll('\r\n', '\n');
  return Buffer.from(ending === 'lf' ? text : text.replaceAll('\n', '\r\n'), 'latin1');
}

const CR = 0x0d;
const LF = 0x0a;
