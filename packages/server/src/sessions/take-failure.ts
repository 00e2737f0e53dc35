import { limits } from '../base/limits.ts';
import { isCompactable } from '../engines/compaction.ts';
import type { EngineFailure, FailureReason, Usage } from '../engines/engine.ts';
import type { Draft } from './draft.ts';
import { endSession } from './end-session.ts';
import { failTurn } from './end-turn.ts';
import type { SessionError } from '../frames/frames.ts';
import type { ThreadState } from './state.ts';
import { toTotals } from './take-answer.ts';

export interface Failed {
  readonly startId: string;
  readonly failure: EngineFailure;
  readonly usage: Usage | null;
  readonly costNanoUsd: number | null;
  readonly model: string;
  /** How long to wait before the next attempt, if there is one. */
  readonly delayMs: number;
}

/** A model request came to nothing: it is tried again, or the turn is lost, or the session is. */
export function takeFailure(draft: Draft, thread: ThreadState, failed: Failed): void {
  const { failure } = failed;
  const turn = thread.turn!;
  const wasCompaction = turn.phase.type === 'requesting' && turn.phase.purpose === 'compaction';
  endRequest(draft, thread, failed);
  const error = toSessionError(failure);
  if (failure.consequence === 'session') return loseSession(draft, thread, error);
  if (failure.reason === 'context_exceeded') return compactOrFail(draft, thread, error, wasCompaction);
  const isLast = turn.failures >= limits.requestRetriesMax;
  if (failure.consequence === 'turn' || isLast) return failTurn(draft, thread, error);
  draft.event(thread, 'session.error', { error, retry: 'retrying', retry_at: draft.now + failed.delayMs });
}

/** The window is full: the next request asks for a summary. If that did not help before, or cannot, nothing will. */
function compactOrFail(draft: Draft, thread: ThreadState, error: SessionError, wasCompaction: boolean): void {
  const isHopeless = wasCompaction || !isCompactable(thread.history);
  if (isHopeless || thread.turn!.compactions >= limits.turnCompactionsMax) {
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

/** No turn can ever work. */
export function loseSession(draft: Draft, thread: ThreadState, error: SessionError): void {
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
