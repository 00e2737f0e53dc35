/** The time of an event: when its line arrived, and the timestamp of the line. Either may be unknown. */
export interface Moment {
  arrivalMs?: number;
  lineMs?: number;
}

/**
 * Which clock to use. `arrival`: the stream is live. `line`: it is a recording, and only the timestamps of its lines count;
 * without them the time is unknown, never guessed (SPEC C4).
 */
export type TimeSource = 'arrival' | 'line';

/** Keeps the earliest of each clock. */
export function markFirst(moment: Moment, seen: Moment): void {
  if (seen.arrivalMs !== undefined) moment.arrivalMs ??= seen.arrivalMs;
  if (seen.lineMs !== undefined) moment.lineMs ??= seen.lineMs;
}

/** Keeps the latest of each clock. */
export function markLast(moment: Moment, seen: Moment): void {
  if (seen.arrivalMs !== undefined) moment.arrivalMs = seen.arrivalMs;
  if (seen.lineMs !== undefined) moment.lineMs = seen.lineMs;
}

/** Time between two moments; undefined if the clock does not know it. */
export function durationBetween(source: TimeSource, from: Moment, to: Moment): number | undefined {
  const start = source === 'arrival' ? from.arrivalMs : from.lineMs;
  const end = source === 'arrival' ? to.arrivalMs : to.lineMs;
  return start === undefined || end === undefined ? undefined : Math.max(0, end - start);
}

/**
 * The timestamp differs from the arrival time: a recording is piped in (`cat run.ndjson | …`), or the clocks differ. In both
 * cases the timestamps of the lines are consistent with each other.
 */
export function isFromAnotherTime({ arrivalMs, lineMs }: Moment): boolean {
  return arrivalMs !== undefined && lineMs !== undefined && Math.abs(arrivalMs - lineMs) > CLOCKS_APART_MS;
}

const CLOCKS_APART_MS = 60_000;

/** The timestamp of a line; undefined if missing or invalid. */
export function parseLineTime(ts: string | undefined): number | undefined {
  const ms = ts === undefined ? Number.NaN : Date.parse(ts);
  return Number.isNaN(ms) ? undefined : ms;
}
