/** The length of the union of time spans: overlaps count once. */
export function unionOf(spans: readonly (readonly [number, number])[]): number {
  let [sum, end] = [0, -Infinity];
  for (const [from, to] of spans.toSorted((left, right) => left[0] - right[0])) {
    const start = Math.max(from, end);
    if (to > start) sum += to - start;
    end = Math.max(end, to);
  }
  return sum;
}
