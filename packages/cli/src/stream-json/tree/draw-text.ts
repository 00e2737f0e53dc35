import { cutText, cutTextStart } from '@fleetloom/protocol/fleet';
import type { TextEntry } from '../overview/overview.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import type { Style } from '../../terminal/palette.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { wrapText } from '../../terminal/text-width.ts';
import type { Drawing } from './drawing.ts';

/** A text chosen for drawing. */
export interface DrawnText {
  entry: Pick<TextEntry, 'type' | 'text' | 'omittedChars' | 'error' | 'aborted'>;
  lines: number;
  /** Whether to show the end instead of the beginning, because the text is being written. */
  tail: boolean;
  /** Whether the text is a message to the agent. */
  given?: boolean;
}

/** A text in at most this many lines, with a note about omitted ones. */
export function drawText(drawing: Drawing, text: DrawnText, first: Span, below: Span): Row[] {
  const { glyphs } = drawing;
  const style = styleOf(text);
  const sign = text.given ? `${glyphs.given} ` : text.entry.type === 'thinking' ? `${glyphs.thought} ` : '';
  const width = Math.max(16, drawing.width - below.text.length - sign.length);
  const lines = text.tail ? tailLines(text, width) : headLines(text, width, glyphs.ellipsis);
  if (text.entry.aborted) lines.push(`${glyphs.stopped} interrupted`);
  return lines.map((line, index) => ({
    left: [index === 0 ? first : below, span(index === 0 ? sign : ' '.repeat(sign.length), style), span(line, style)],
    right: [],
  }));
}

function styleOf(text: DrawnText): Style {
  if (text.entry.error !== undefined) return 'failed';
  if (text.given) return 'dim';
  return text.entry.type === 'thinking' ? 'thought' : 'plain';
}

function headLines({ entry, lines: linesMax }: DrawnText, width: number, ellipsis: string): string[] {
  // Only the visible part is measured: a text may be long, and this runs for every redraw.
  const lookedAt = width * (linesMax + 2) * 4;
  const head = cleanText(cutText(entry.text, lookedAt)).trim();
  const lines = wrapText(head, width, linesMax + 1).filter((line, index, all) => line !== '' || all[index - 1] !== '');
  const more = lines.length > linesMax || entry.omittedChars > 0 || entry.text.length > lookedAt;
  if (!more) return lines;
  const shown = lines.slice(0, linesMax);
  const last = shown.length - 1;
  shown[last] = `${cutText(shown[last] ?? '', Math.max(0, width - 2))} ${ellipsis}`;
  return shown;
}

function tailLines({ entry, lines: linesMax }: DrawnText, width: number): string[] {
  const tail = cleanText(cutTextStart(entry.text, width * (linesMax + 1) * 2)).trim();
  return wrapText(tail, width)
    .filter((line) => line !== '')
    .slice(-linesMax);
}
