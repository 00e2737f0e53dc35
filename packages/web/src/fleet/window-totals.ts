import type { ShownRow } from '../model/summary.ts';
import type { ThreadTrack } from '../model/thread-track.ts';
import { unionOf } from '../model/union-of.ts';
import type { TimeSpan } from '../ui/lanes/time-span.ts';

/** The totals of a time range. */
export interface Totals {
  readonly costUsd: number;
  readonly tokens: number;
  readonly requests: number;
  readonly tools: number;
  readonly errors: number;
  /** How long threads waited for the user; time in which several threads waited counts once. */
  readonly waitedMs: number;
}

/** Sums up these threads in a time range. */
export function totalsOf(rows: readonly ShownRow[], { from, to }: TimeSpan): Totals {
  const sessions = new Set(rows.map(({ session }) => session));
  const tracks = rows.flatMap(({ session, key }) => session.tracks.get(key) ?? []);
  const isWithin = (time: number) => time >= from && time <= to;
  const count = (timesOf: (track: ThreadTrack) => readonly number[]) =>
    tracks.reduce((sum, track) => sum + timesOf(track).filter(isWithin).length, 0);
  const waits = tracks.flatMap(({ segments }) =>
    segments.flatMap(({ state, from: start, to: end }) =>
      state === 'needs' ? [[Math.max(from, start), Math.min(to, end ?? to)] as const] : [],
    ),
  );
  return {
    costUsd: [...sessions].reduce((sum, session) => sum + session.spentSince(from, to), 0),
    requests: count(({ requestTimes }) => requestTimes),
    tokens: tracks.reduce(
      (sum, { spent }) => sum + spent.reduce((part, { at, tokens }) => part + (isWithin(at) ? tokens : 0), 0),
      0,
    ),
    tools: count(({ callTimes }) => callTimes),
    errors: count(({ failureTimes }) => failureTimes),
    waitedMs: unionOf(waits),
  };
}
