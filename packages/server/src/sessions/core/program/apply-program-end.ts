import type { ProgramEvent, TurnFailure, TurnOutcome } from '../../../engines/program/program.ts';
import type { SessionError } from '../../../frames/payload-parts.ts';
import type { Draft } from '../draft.ts';
import { closeTurn } from '../turn/end-turn.ts';
import { logThreadOf } from '../state/program-threads.ts';
import { endTurn, openCallsOf, type Stopped, type ThreadState, threadOf } from '../state/state.ts';
import { findThread } from './find-thread.ts';
import { cancelProgramTurn, closeOpen, failProgramTurn } from './end-lost-program.ts';

/** Ends the turn of the main agent, unless a message that arrived in the meantime continues it. */
export function applyTurnEnd(
  draft: Draft,
  root: ThreadState,
  event: Extract<ProgramEvent, { type: 'turn_ended' }>,
): void {
  const { turn } = root;
  if (turn === null || event.isMoreToCome) return;
  if (event.message !== undefined) draft.add(logThreadOf(root), 'program.message', { message: event.message });
  endJoined(draft, root);
  if (turn.stopping !== null || event.outcome.type === 'stopped') return cancelProgramTurn(draft, root);
  closeOpen(draft, root);
  endWith(draft, root, event.outcome);
}

/** Ends the turn of a sub-agent. */
export function applyThreadEnd(
  draft: Draft,
  root: ThreadState,
  event: Extract<ProgramEvent, { type: 'thread_ended' }>,
): void {
  const thread = findThread(draft.state, root, event.key);
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
  // Unlike a child of a model engine it can be continued: the program has kept its history.
  const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
  closeTurn(draft, thread, { end: 'error', error: message, stop, isReported: true });
}

/** Agents that a call of the turn still waits for end with it. Those in the background have their result, and go on. */
function endJoined(draft: Draft, root: ThreadState): void {
  const children = openCallsOf(root).flatMap(({ children: ids }) => [...ids.values()]);
  for (const id of children) {
    const child = threadOf(draft.state, id);
    if (child.turn !== null && child.programKey !== null) cancelProgramTurn(draft, child);
  }
}

function endWith(draft: Draft, root: ThreadState, outcome: Exclude<TurnOutcome, { type: 'stopped' }>): void {
  const isReported = true;
  switch (outcome.type) {
    case 'done':
      return closeTurn(draft, root, { end: 'end_turn', error: null, stop: endTurn, isReported });
    case 'limit':
      return closeTurn(draft, root, { end: 'limit', error: outcome.message, stop: endTurn, isReported });
    case 'refused': {
      const details = { type: 'refusal', category: null, explanation: outcome.message } as const;
      const stop: Stopped = { reason: { type: 'refusal' }, details };
      return closeTurn(draft, root, { end: 'refusal', error: 'the model refused', stop, isReported });
    }
    case 'failed':
      return failProgramTurn(draft, root, {
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
