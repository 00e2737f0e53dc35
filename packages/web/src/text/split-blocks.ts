/**
 * Where the part of a growing text ends that will not change any more: behind the last empty line outside a code fence. What
 * is in front of it is drawn once; only the rest is looked at again.
 */
export function settledLength(text: string, from = 0): number {
  let settled = from;
  let fence: string | undefined;
  for (let start = from; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    const line = text.slice(start, end);
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence) && line.trim() === mark) fence = undefined;
    }
    if (fence === undefined && line.trim() === '') settled = end + 1;
    start = end + 1;
  }
  return settled;
}
