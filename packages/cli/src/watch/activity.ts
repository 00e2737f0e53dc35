/** How much was heard of each thread in the last minute. */
export class Activity {
  readonly #counts = new Map<string, Map<number, number>>();

  count(key: string, time: number | null): void {
    if (time === null) return;
    const bucket = Math.floor(time / BUCKET_MS);
    const counts = this.#counts.get(key) ?? new Map<number, number>();
    this.#counts.set(key, counts);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    // Only what can still be seen: a day of work has seventeen thousand of them.
    if (counts.size > 2 * BUCKETS) for (const old of counts.keys()) if (old <= bucket - BUCKETS) counts.delete(old);
  }

  /** Twelve numbers, the newest last. */
  of(key: string, nowMs: number): readonly number[] {
    const last = Math.floor(nowMs / BUCKET_MS);
    const counts = this.#counts.get(key);
    return Array.from({ length: BUCKETS }, (_, index) => counts?.get(last - BUCKETS + 1 + index) ?? 0);
  }
}

const BUCKETS = 12;
const BUCKET_MS = 5_000;

/** The numbers as heights. Any sign of life is seen; the rest grows slowly, because some agents say much more. */
export function toSpark(counts: readonly number[], unicode: boolean): string {
  const heights = unicode ? '▁▂▃▄▅▆▇█' : '.:-=+*#%';
  return counts
    .map((count) => (count === 0 ? ' ' : (heights[Math.min(heights.length - 1, Math.floor(Math.log2(count)))] ?? '')))
    .join('');
}
