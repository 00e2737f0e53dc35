import type { SummaryData } from '../frames/summary-data.ts';
import type { SessionLog } from '../log/log.ts';
import type { SessionSummary } from '../store/summaries.ts';
import { sessionOf } from '../store/write.ts';

/** The change of a session that devices may be notified of. */
export interface SessionChange {
  readonly sessionId: string;
  readonly change: string;
}

/**
 * Wraps a log to report each session that begins to need a person, has a further pending call, or fails. It reads the
 * summaries that are committed with the frames, so it costs nothing for all other writes.
 */
export function watchChanges(log: SessionLog, onChange: (change: SessionChange) => void): SessionLog {
  /** The number of decisions that each open session waits for, by the last summary that this node has committed. */
  const needs = new Map<string, number>();
  return {
    ...log,
    append: async (write) => {
      // Read before the append, because the caller may modify the write afterwards.
      const summary = 'changes' in write ? write.changes.findLast(({ type }) => type === 'put_summary') : undefined;
      const appended = await log.append(write);
      const sessionId = sessionOf(write);
      if (write.type === 'delete') needs.delete(sessionId);
      if (summary?.type !== 'put_summary') return appended;
      const change = toChange(summary.summary, appended.lastSeq, needs.get(sessionId) ?? 0);
      const needed = needsOf(summary.summary);
      if (needed > 0) needs.set(sessionId, needed);
      else needs.delete(sessionId);
      if (change !== undefined) onChange({ sessionId, change });
      return appended;
    },
  };
}

/** The change to announce for a session in this state, if any. `seq`: the frame that caused it. `needed`: the previous number of decisions. */
export function toChange(summary: Omit<SessionSummary, 'search'>, seq: number, needed = 0): string | undefined {
  const now = needsOf(summary);
  if (now > 0) return now > needed ? `${NEEDS} ${seq}` : undefined;
  // Identified by the time of the failure, which is the same on all nodes and differs for the next failure.
  return summary.state === 'failed' ? `${FAILED} ${dataOf(summary).ended_at ?? summary.createdAt}` : undefined;
}

/** The first word of a change of a session that needs a person. */
export const NEEDS = 'needs_you';
/** The first word of a change of a session that has failed. */
export const FAILED = 'failed';

/** The number of decisions that a session waits for. Zero for read-only sessions, which run elsewhere and take no decisions here. */
function needsOf(summary: Pick<SessionSummary, 'state' | 'data'>): number {
  const { needs_you: count, is_read_only: isReadOnly } = dataOf(summary);
  return summary.state === 'needs_you' && !isReadOnly ? count : 0;
}

/** The cast is safe because only sessions write this data. */
function dataOf({ data }: Pick<SessionSummary, 'data'>): SummaryData {
  return data as SummaryData;
}
