import type { ShownRow } from '../model/summary.ts';
import type { TimeSpan } from './lane-view.ts';

export interface Totals {
  readonly costUsd: number;
  readonly requests: number;
  readonly tools: number;
  readonly errors: number;
  /** How long somebody was waited for, each moment once. */
  readonly waitedMs: number;
}

export function totalsOf(rows: readonly ShownRow[], { from, to }: TimeSpan): Totals {
  const sessions = new Set(rows.map(({ session }) => session));
  const tracks = rows.flatMap(({ session, key }) => session.tracks.get(key) ?? []);
  const isWithin = (time: number) => time >= from && time <= to;
  const waits = tracks.flatMap(({ segments }) =>
    segments.flatMap(({ state, from: start, to: end }) =>
      state === 'needs' ? [[Math.max(from, start), Math.min(to, end ?? to)] as const] : [],
    ),
  );
  return {
    costUsd: [...sessions].reduce((sum, session) => sum + session.spentSince(from, to), 0),
    requests: tracks.reduce((sum, { requestTimes }) => sum + requestTimes.filter(isWithin).length, 0),
    tools: tracks.reduce(
      (sum, { segments }) => sum + segments.filter((one) => one.state === 'tool' && isWithin(one.from)).length,
      0,
    ),
    errors: tracks.reduce(
      (sum, { marks }) => sum + marks.filter((mark) => mark.kind === 'error' && isWithin(mark.at)).length,
      0,
    ),
    waitedMs: unionOf(waits),
  };
}

/** Two that wait at the same time are one wait of somebody. */
export function unionOf(spans: readonly (readonly [number, number])[]): number {
  let [sum, end] = [0, -Infinity];
  for (const [from, to] of spans.toSorted((left, right) => left[0] - right[0])) {
    const start = Math.max(from, end);
    if (to > start) sum += to - start;
    end = Math.max(end, to);
  }
  return sum;
}
