/**
 * The beginning of a text, at most this many UTF-16 units. A character that is a pair of surrogates
 * is kept whole or left out: half of one is not Unicode, and is shown as a replacement sign.
 */
export function cutText(text: string, charsMax: number): string {
  return text.slice(0, isWithinPair(text, charsMax) ? charsMax - 1 : charsMax);
}

/** The end of a text, cut in the same way. */
export function cutTextStart(text: string, charsMax: number): string {
  const start = Math.max(0, text.length - charsMax);
  return text.slice(isWithinPair(text, start) ? start + 1 : start);
}

function isWithinPair(text: string, at: number): boolean {
  const [before, behind] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && behind >= 0xdc00 && behind < 0xe000;
}
