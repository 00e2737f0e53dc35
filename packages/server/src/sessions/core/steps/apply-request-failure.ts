import type { Failed } from '../command.ts';
import { baseLimits } from '../../../base/limits.ts';
import { sessionLimits } from '../limits.ts';
import { isCompactable } from '../../../engines/model/compaction.ts';
import type { EngineFailure, FailureReason } from '../../../engines/model/engine.ts';
import type { Draft } from '../draft.ts';
import { endSession } from './end-session.ts';
import { failTurn } from '../turn/end-turn.ts';
import type { SessionError } from '../../../frames/payload-parts.ts';
import type { ThreadState } from '../state/state.ts';
import { toTotals } from '../state/usage.ts';

/** Logs a failed model request: it is retried, or the turn fails, or the session ends. */
export function applyRequestFailure(draft: Draft, thread: ThreadState, failed: Failed): void {
  const { failure } = failed;
  const turn = thread.turn!;
  const wasCompaction = turn.phase.type === 'requesting' && turn.phase.purpose === 'compaction';
  endRequest(draft, thread, failed);
  const error = toSessionError(failure);
  if (failure.consequence === 'session') return failSession(draft, thread, error);
  if (failure.reason === 'context_exceeded') return compactOrFail(draft, thread, error, wasCompaction);
  const isLast = turn.failures >= baseLimits.requestRetriesMax;
  if (failure.consequence === 'turn' || isLast) return failTurn(draft, thread, error);
  draft.event(thread, 'session.error', { error, retry: 'retrying', retry_at: draft.now + failed.delayMs });
}

/** The context window is full: the next request is a compaction. If that failed before or is impossible, the turn fails. */
function compactOrFail(draft: Draft, thread: ThreadState, error: SessionError, wasCompaction: boolean): void {
  const isHopeless = wasCompaction || !isCompactable(thread.history);
  if (isHopeless || thread.turn!.compactions >= sessionLimits.turnCompactionsMax) {
    return failTurn(draft, thread, { ...error, type: 'compaction_limit_reached_error' });
  }
  draft.add(thread, 'turn.overflowed', {});
}

function endRequest(draft: Draft, thread: ThreadState, { startId, usage, costNanoUsd, model }: Failed): void {
  draft.event(thread, 'span.model_request_end', {
    model_request_start_id: startId,
    is_error: true,
    model,
    model_usage: toTotals(usage, costNanoUsd),
    stop_reason: null,
    stop_details: null,
  });
}

/** Ends a session in which no turn can succeed. */
export function failSession(draft: Draft, thread: ThreadState, error: SessionError): void {
  draft.event(thread, 'session.error', { error, retry: 'terminal', retry_at: null });
  endSession(draft, { end: 'error', error: error.message, isArchived: false });
}

const errorTypes: Partial<Record<FailureReason, SessionError['type']>> = {
  overloaded: 'model_overloaded_error',
  rate_limited: 'model_rate_limited_error',
  billing: 'billing_error',
  unknown: 'unknown_error',
};

function toSessionError({ reason, message }: EngineFailure): SessionError {
  return { type: errorTypes[reason] ?? 'model_request_failed_error', message, reason };
}
