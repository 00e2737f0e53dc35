import { limits } from '../limits.ts';

/** Cut between characters, at the end of a line where there is one near. */
export function toPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const most = Math.min(text.length, start + limits.pieceCharsMax);
    const line = most === text.length ? most : text.lastIndexOf('\n', most) + 1;
    let end = line > start + limits.pieceCharsMax / 2 ? line : most;
    const code = text.charCodeAt(end - 1);
    // Half a character at the end would be shown as a replacement sign.
    if (end < text.length && code >= 0xd800 && code < 0xdc00) end -= 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
