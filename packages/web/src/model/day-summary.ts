import { formatAgo, formatDuration } from './format.ts';
import { groupOf, type SummaryInput } from './summary.ts';
import { unionOf } from './union-of.ts';

/** How long agents waited for decisions today. */
export interface DaySummary {
  readonly running: number;
  /** The longest wait of one approval today; undefined if there was no approval. */
  readonly longestMs: number | undefined;
  /** When the last decision was made, on any day. */
  readonly decidedAt: number | undefined;
  /** How long agents waited for a person today; overlapping waits count once. */
  readonly waitedMs: number;
}

/** The waits and decisions of today. */
export function summarizeDay(sessions: readonly SummaryInput[], now: number): DaySummary {
  const from = startOfDay(now);
  const rows = sessions.flatMap((one) => one.rows);
  const asked = sessions.flatMap(({ slots }) => slots.runs.flatMap(({ approvals }) => approvals));
  const waits = asked.flatMap(({ askedAt, resolvedAt }) => {
    const until = resolvedAt ?? now;
    return askedAt === null || until < from ? [] : [until - askedAt];
  });
  const decided = asked.flatMap(({ resolvedAt, result }) =>
    resolvedAt !== null && (result === 'allow' || result === 'deny') ? [resolvedAt] : [],
  );
  return {
    running: rows.filter(({ state }) => groupOf(state) === 'running').length,
    longestMs: largestOf(waits),
    decidedAt: largestOf(decided),
    waitedMs: waitedSince(rows, from, now),
  };
}

function largestOf(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((largest, each) => Math.max(largest, each));
}

/** `14 running, longest wait today 38 s, last decision 2 min ago`. */
export function dayLine({ running, longestMs, decidedAt }: DaySummary, now: number): string {
  const parts = [`${running} running`];
  if (longestMs !== undefined) parts.push(`longest wait today ${formatDuration(longestMs)}`);
  if (decidedAt !== undefined) parts.push(`last decision ${formatAgo(now - decidedAt)}`);
  return parts.join(', ');
}

/** How long threads waited for a person since `from`; overlapping waits count once. */
function waitedSince(rows: SummaryInput['rows'], from: number, now: number): number {
  const waits: [number, number][] = [];
  for (const { session, key } of rows) {
    for (const { state, from: start, to } of session.tracks.get(key)?.segments ?? [])
      if (state === 'needs') waits.push([Math.max(from, start), Math.min(now, to ?? now)]);
  }
  return unionOf(waits);
}

/** Midnight, local time. */
function startOfDay(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}
