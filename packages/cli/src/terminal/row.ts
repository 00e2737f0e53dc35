import type { Look } from './look.ts';
import type { Style } from './palette.ts';
import { textWidth, truncateText } from './text-width.ts';

/** A piece of a line that is drawn in one style. Its text is clean (clean-text.ts). */
export interface Span {
  text: string;
  style: Style;
}

/** One line of the screen: the left part, which is cut if there is no room, and the right part. */
export interface Row {
  left: Span[];
  right: Span[];
}

export function span(text: string, style: Style = 'plain'): Span {
  return { text, style };
}

/** The row as one line of at most `width` columns. */
export function paintRow(given: Row, width: number, look: Look): string {
  const row = look.unicode ? given : { left: given.left.map(toAscii), right: given.right.map(toAscii) };
  const rightWidth = row.right.reduce((sum, piece) => sum + textWidth(piece.text), 0);
  // In a very narrow terminal the left part is more important.
  const right = rightWidth > 0 && rightWidth + LEFT_MIN <= width ? row.right : [];
  const room = right.length > 0 ? width - rightWidth - GAP : width;
  const left = fitSpans(row.left, room, look.glyphs.ellipsis);
  if (right.length === 0) return paintSpans(left, look);
  const used = left.reduce((sum, piece) => sum + textWidth(piece.text), 0);
  return paintSpans([...left, span(' '.repeat(room - used + GAP)), ...right], look);
}

const GAP = 2;
const LEFT_MIN = 24;

function fitSpans(spans: readonly Span[], width: number, ellipsis: string): Span[] {
  const fitted: Span[] = [];
  let room = width;
  for (const piece of spans) {
    const pieceWidth = textWidth(piece.text);
    if (pieceWidth > room) {
      fitted.push({ ...piece, text: truncateText(piece.text, room, ellipsis) });
      break;
    }
    fitted.push(piece);
    room -= pieceWidth;
  }
  return fitted;
}

function paintSpans(spans: readonly Span[], look: Look): string {
  const text = spans.map((piece) => look.paint(piece.text, piece.style)).join('');
  return text.trimEnd();
}

/**
 * Without a UTF-8 locale, other bytes would appear as several wrong characters. Replaced before measuring, because one
 * grapheme may be several characters.
 */
function toAscii(piece: Span): Span {
  // oxlint-disable-next-line no-control-regex -- the range is what ASCII is
  return { ...piece, text: piece.text.replace(/[^\x00-\x7f]/gu, '?') };
}
