import { cutTextStart, type TextTail } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { textWidth } from '../terminal/text-width.ts';

/**
 * The end of an agent's text, on one line of at most `width` columns. An ellipsis marks omitted text, and the line
 * begins with a whole word.
 */
export function endOfText(
  { tail, length }: Pick<TextTail, 'tail' | 'length'>,
  width: number,
  ellipsis: string,
): string {
  const charsMax = CHARS_PER_COLUMN * Math.max(0, width);
  const isWhole = tail.length === length && length <= charsMax;
  const text = cleanLine(cutTextStart(tail, charsMax || tail.length));
  if (isWhole && textWidth(text) <= width) return text;
  const room = width - textWidth(ellipsis);
  if (room <= 0) return ellipsis.slice(0, Math.max(0, width));
  const end = takeEnd(text, room);
  const isHalf = end.length < text.length ? !/\s/.test(text.at(-end.length - 1)!) : !isWhole;
  return `${ellipsis}${(isHalf ? end.replace(/^\S{1,11}\s+(?=\S)/, '') : end).trimStart()}`;
}

/** Enough for graphemes of several code units. */
const CHARS_PER_COLUMN = 4;

function takeEnd(text: string, width: number): string {
  let end = '';
  for (const character of Array.from(text).toReversed()) {
    if (textWidth(character + end) > width) break;
    end = character + end;
  }
  return end;
}
