import { cutTextStart } from '../../text/cut-text.ts';
/** The end of a growing text, and its whole length. */
export interface TextTail {
  readonly tail: string;
  /** Length of the whole text, in UTF-16 code units. */
  readonly length: number;
  /**
   * The text when the current model request began. A retraction covers at most that request, so even a response longer
   * than what is kept can be retracted without losing the end of the previous one.
   */
  readonly settled: { readonly tail: string; readonly length: number };
}

const nothing = { tail: '', length: 0 };
/** A text without any character yet. */
export const emptyText: TextTail = { ...nothing, settled: nothing };

/** The text with a piece appended. */
export function appendText(text: TextTail, delta: string, charsMax: number): TextTail {
  if (delta === '') return text;
  const { settled, length } = text;
  return { tail: endOf(text.tail + delta, charsMax), length: length + delta.length, settled };
}

/** Marks the text so far as final. */
export function settleText(text: TextTail): TextTail {
  return { ...text, settled: { tail: text.tail, length: text.length } };
}

/** Removes the text from a position on. Text before it that is not kept any more cannot be restored. */
export function retractText(text: TextTail, from: number): TextTail {
  if (from >= text.length) return text;
  // If both contain the position, the settled tail reaches further back than the newest one.
  const tail = headOf(text.settled, from) ?? headOf(text, from) ?? '';
  const settled = from < text.settled.length ? { tail, length: from } : text.settled;
  return { tail, length: from, settled };
}

/** The kept text before a position; undefined if the position is outside the kept text. */
function headOf({ tail, length }: { tail: string; length: number }, to: number): string | undefined {
  const start = length - tail.length;
  return to < start || to > length || (to === start && start > 0) ? undefined : tail.slice(0, to - start);
}

function endOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : cutTextStart(text, charsMax);
}
