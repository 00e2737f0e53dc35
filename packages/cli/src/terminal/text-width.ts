/** The width of clean text in terminal columns. */
export function textWidth(text: string): number {
  return NARROW.test(text) ? text.length : measure(text);
}

/**
 * Loads the library that measures wide text. Loading takes as long as the rest of the program, so the first frame, which has
 * only narrow text, is drawn before; text from a stream is drawn after (SPEC C1).
 */
export async function loadTextWidth(): Promise<void> {
  const { default: stringWidth } = await import('string-width');
  measure = stringWidth;
}

/** At most `width` columns of the text; an ellipsis marks a cut. */
export function truncateText(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return '';
  if (text.length <= MEASURED_WHOLE_MAX && textWidth(text) <= width) return text;
  const room = width - textWidth(ellipsis);
  return room < 0 ? ellipsis.slice(0, width) : takeColumns(text, room).trimEnd() + ellipsis;
}

/** Wraps text to `width` columns, at spaces if possible. `linesMax` bounds the work. */
export function wrapText(text: string, width: number, linesMax = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    if (lines.length >= linesMax) return lines;
    wrapParagraph(paragraph, Math.max(1, width), lines, linesMax);
  }
  return lines;
}

/** Characters that always take one column: Latin, Greek, Cyrillic, punctuation, arrows, lines, and the marks of the tree. */
export const NARROW =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u2190-\u21ff\u2234\u2500-\u257f\u25a0-\u25fc\u2713\u2717\u2801-\u28ff]*$/;

/** Characters up to which a text is measured as a whole. A longer text is measured from its start until the width is used. */
const MEASURED_WHOLE_MAX = 1_000;

let measure = (text: string): number => Array.from(text).length;

let graphemes: Intl.Segmenter | undefined;

/** Created on first use: creation takes 10 ms. */
function segment(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return graphemes.segment(text);
}

function takeColumns(text: string, width: number): string {
  // Every visible character takes at least one unit; zero-width marks are bounded by the factor.
  const head = text.slice(0, width * 8 + 8);
  if (NARROW.test(head)) return head.slice(0, width);
  let taken = '';
  let columns = 0;
  for (const { segment: piece } of segment(head)) {
    columns += textWidth(piece);
    if (columns > width) break;
    taken += piece;
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
    const head = takeColumns(rest, width) || takePoints(rest, width);
    if (head.length >= rest.length) {
      lines.push(rest);
      return;
    }
    const blank = rest[head.length] === ' ' ? head.length : head.lastIndexOf(' ');
    // Indentation is not a place to wrap.
    const cut = blank > indent ? blank : head.length;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
}

/**
 * Some graphemes are wider than a narrow line, such as a sequence of Hangul letters. They are split if necessary, and at least
 * one character is taken, so that wrapping always advances.
 */
function takePoints(text: string, width: number): string {
  let taken = '';
  for (const point of text.slice(0, width * 8 + 8)) {
    if (taken !== '' && textWidth(taken + point) > width) break;
    taken += point;
  }
  return taken;
}
