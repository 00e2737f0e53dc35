/**
 * Length of the part of a growing Markdown text that later text cannot change: up to the last empty line outside a code fence.
 * That part is rendered once.
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
