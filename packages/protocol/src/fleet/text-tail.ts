import { cutTextStart } from './cut-text.ts';
/** The end of a text that grows, and how long it is in all. */
export interface TextTail {
  readonly tail: string;
  /** Of the whole text, as JavaScript counts characters. */
  readonly length: number;
  /**
   * As it was when the model request under way began. What is taken back is at most what that request has said, so even
   * an answer longer than what is kept can be taken back without losing the end of the one before it.
   */
  readonly settled: { readonly tail: string; readonly length: number };
}

const nothing = { tail: '', length: 0 };
export const emptyText: TextTail = { ...nothing, settled: nothing };

export function appendText(text: TextTail, delta: string, charsMax: number): TextTail {
  if (delta === '') return text;
  const { settled, length } = text;
  return { tail: endOf(text.tail + delta, charsMax), length: length + delta.length, settled };
}

/** What has been said so far will not be taken back. */
export function settleText(text: TextTail): TextTail {
  return { ...text, settled: { tail: text.tail, length: text.length } };
}

/** Everything from this place on is void. What was there and is not kept any more cannot come back. */
export function retractText(text: TextTail, from: number): TextTail {
  if (from >= text.length) return text;
  // The settled end reaches further back than the newest one wherever both have the place.
  const tail = headOf(text.settled, from) ?? headOf(text, from) ?? '';
  const settled = from < text.settled.length ? { tail, length: from } : text.settled;
  return { tail, length: from, settled };
}

/** What is kept of the text in front of a place; nothing if the place is in front of all that is kept, or behind it. */
function headOf({ tail, length }: { tail: string; length: number }, to: number): string | undefined {
  const start = length - tail.length;
  return to < start || to > length || (to === start && start > 0) ? undefined : tail.slice(0, to - start);
}

function endOf(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : cutTextStart(text, charsMax);
}
