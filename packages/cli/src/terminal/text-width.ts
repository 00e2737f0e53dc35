import stringWidth from 'string-width';

/** Columns that a piece of clean text takes in a terminal. */
export function textWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** At most `width` columns of the text; what is cut off is told by the ellipsis. */
export function truncateText(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return '';
  if (ASCII.test(text) && text.length <= width) return text;
  if (text.length <= MEASURED_WHOLE_MAX && textWidth(text) <= width) return text;
  const room = width - textWidth(ellipsis);
  return room < 0 ? ellipsis.slice(0, width) : takeColumns(text, room).trimEnd() + ellipsis;
}

/** Lines of at most `width` columns, broken at blanks where there are any. `linesMax` bounds the work, not the meaning. */
export function wrapText(text: string, width: number, linesMax = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    if (lines.length >= linesMax) return lines;
    wrapParagraph(paragraph, Math.max(1, width), lines, linesMax);
  }
  return lines;
}

const ASCII = /^[\x20-\x7e]*$/;
/** A longer text is cut by counting from its start, without measuring all of it. */
const MEASURED_WHOLE_MAX = 1_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function takeColumns(text: string, width: number): string {
  // Every character shown takes at least one unit; marks that take none are bounded by the factor.
  const head = text.slice(0, width * 8 + 8);
  if (ASCII.test(head)) return head.slice(0, width);
  let taken = '';
  let columns = 0;
  for (const { segment } of segmenter.segment(head)) {
    columns += stringWidth(segment);
    if (columns > width) break;
    taken += segment;
  }
  return taken;
}

function wrapParagraph(paragraph: string, width: number, lines: string[], linesMax: number): void {
  let rest = paragraph.trimEnd();
  const indent = rest.match(/^ */)?.[0].length ?? 0;
  while (lines.length < linesMax) {
    if (rest.length <= MEASURED_WHOLE_MAX && textWidth(rest) <= width) {
      lines.push(rest);
      return;
    }
    const head = takeColumns(rest, width) || [...segmenter.segment(rest.slice(0, 32))][0]?.segment || rest;
    if (head.length >= rest.length) {
      lines.push(rest);
      return;
    }
    const blank = rest[head.length] === ' ' ? head.length : head.lastIndexOf(' ');
    // A line's own indentation is no place to break it.
    const cut = blank > indent ? blank : head.length;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
}
