import type { ProgramEvent, TurnFailure, TurnOutcome } from '../../engines/program.ts';
import type { SessionError } from '../../frames/frames.ts';
import type { Draft } from '../draft.ts';
import { closeTurn, failTurn } from '../end-turn.ts';
import { endTurn, openCallsOf, primaryOf, type Stopped, type ThreadState, threadOf } from '../state.ts';
import { findThread } from './find-thread.ts';
import { cancelProgramTurn, closeOpen } from './lose-program.ts';

/** The turn of the main agent is over, unless what somebody said in the meantime begins another one. */
export function takeTurnEnd(draft: Draft, event: Extract<ProgramEvent, { type: 'turn_ended' }>): void {
  const primary = primaryOf(draft.state);
  const { turn } = primary;
  if (turn === null || event.isMoreToCome) return;
  if (event.message !== undefined) draft.add(null, 'program.message', { message: event.message });
  endJoined(draft, primary);
  if (turn.stopping !== null || event.outcome.type === 'stopped') return cancelProgramTurn(draft, primary);
  closeOpen(draft, primary);
  endWith(draft, primary, event.outcome);
}

export function takeThreadEnd(draft: Draft, event: Extract<ProgramEvent, { type: 'thread_ended' }>): void {
  const thread = findThread(draft.state, event.key);
  if (thread === undefined || thread.turn === null) return;
  if (event.status === 'stopped' || thread.turn.stopping !== null) return cancelProgramTurn(draft, thread);
  closeOpen(draft, thread);
  if (event.status === 'completed') {
    closeTurn(draft, thread, { end: 'end_turn', error: null, stop: endTurn, isReported: true });
    return;
  }
  const message = event.error ?? `${thread.agentName} failed`;
  draft.event(thread, 'session.error', {
    error: { type: 'model_request_failed_error', message },
    retry: 'exhausted',
    retry_at: null,
  });
  // Unlike others it can be spoken to again: the program has kept what it knows.
  const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
  closeTurn(draft, thread, { end: 'error', error: message, stop, isReported: true });
}

/** Agents that a call of the turn still waits for end with it. Those in the background have their result, and go on. */
function endJoined(draft: Draft, primary: ThreadState): void {
  const children = openCallsOf(primary).flatMap(({ children: ids }) => [...ids.values()]);
  for (const id of children) {
    const child = threadOf(draft.state, id);
    if (child.turn !== null) cancelProgramTurn(draft, child);
  }
}

function endWith(draft: Draft, primary: ThreadState, outcome: Exclude<TurnOutcome, { type: 'stopped' }>): void {
  const isReported = false;
  switch (outcome.type) {
    case 'done':
      return closeTurn(draft, primary, { end: 'end_turn', error: null, stop: endTurn, isReported });
    case 'limit':
      return closeTurn(draft, primary, { end: 'limit', error: outcome.message, stop: endTurn, isReported });
    case 'refused': {
      const details = { type: 'refusal', category: null, explanation: outcome.message } as const;
      const stop: Stopped = { reason: { type: 'refusal' }, details };
      return closeTurn(draft, primary, { end: 'refusal', error: 'the model refused', stop, isReported });
    }
    case 'failed':
      return failTurn(draft, primary, {
        type: errorTypes[outcome.reason],
        message: outcome.message,
        reason: outcome.reason,
      });
  }
}

const errorTypes: Record<TurnFailure, SessionError['type']> = {
  overloaded: 'model_overloaded_error',
  rate_limited: 'model_rate_limited_error',
  billing: 'billing_error',
  authentication: 'model_request_failed_error',
  request_failed: 'model_request_failed_error',
  unknown: 'unknown_error',
};
