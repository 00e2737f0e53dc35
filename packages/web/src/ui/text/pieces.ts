import { textLimits } from './limits.ts';

/** Splits a text into pieces of at most `textLimits.pieceCharsMax`, at line ends where possible, never inside a character. */
export function toPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const most = Math.min(text.length, start + textLimits.pieceCharsMax);
    const line = most === text.length ? most : text.lastIndexOf('\n', most) + 1;
    let end = line > start + textLimits.pieceCharsMax / 2 ? line : most;
    const code = text.charCodeAt(end - 1);
    // Half a surrogate pair would be shown as a replacement character.
    if (end < text.length && code >= 0xd800 && code < 0xdc00) end -= 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
