/** When something happened: when its line arrived here, and when it says it happened. Either may be unknown. */
export interface Moment {
  arrivalMs?: number;
  lineMs?: number;
}

/**
 * Which of the two clocks tells the truth. `arrival`: the stream is live. `line`: it is a recording, and only what the
 * lines say themselves counts; where they say nothing the time is unknown, never guessed (SPEC C4).
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

/** Time between two moments, or undefined where the source does not know it. */
export function durationBetween(source: TimeSource, from: Moment, to: Moment): number | undefined {
  const start = source === 'arrival' ? from.arrivalMs : from.lineMs;
  const end = source === 'arrival' ? to.arrivalMs : to.lineMs;
  return start === undefined || end === undefined ? undefined : Math.max(0, end - start);
}

/**
 * It says it happened at another time than it arrives: a recording is piped in (`cat run.ndjson | …`), or the clocks differ.
 * Either way the lines' own times are the ones that fit together.
 */
export function isFromAnotherTime({ arrivalMs, lineMs }: Moment): boolean {
  return arrivalMs !== undefined && lineMs !== undefined && Math.abs(arrivalMs - lineMs) > CLOCKS_APART_MS;
}

const CLOCKS_APART_MS = 60_000;

/** The line's own time; undefined where it has none that can be read. */
export function parseLineTime(ts: string | undefined): number | undefined {
  const ms = ts === undefined ? Number.NaN : Date.parse(ts);
  return Number.isNaN(ms) ? undefined : ms;
}
