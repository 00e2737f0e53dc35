import { isOverBudget } from '../budget.ts';
import type { Draft } from '../draft.ts';
import { dropRequest } from '../drop-request.ts';
import { cancelTurn, closeTurn, failTurn } from '../end-turn.ts';
import { giveInterruption } from '../give-result.ts';
import { endTurn, openCallsOf, primaryOf, type Stopped, type ThreadState } from '../state.ts';

/**
 * The program is gone, and all that was under way with it: every turn ends where it is. Nothing is begun again by itself,
 * since nobody knows what had been done by then.
 */
export function loseProgram(draft: Draft, message: string, reason = 'program_lost'): void {
  const primary = primaryOf(draft.state);
  const children = [...draft.state.threads.values()].filter((thread) => thread !== primary && thread.turn !== null);
  for (const child of children.toReversed()) loseTurn(draft, child, message);
  if (primary.turn === null) return;
  if (primary.turn.stopping !== null) return cancelProgramTurn(draft, primary);
  closeOpen(draft, primary);
  failTurn(draft, primary, { type: 'unknown_error', message, reason });
}

/** Somebody stopped it, or the budget did. */
export function cancelProgramTurn(draft: Draft, thread: ThreadState): void {
  const isReported = thread.turn?.stopping?.isReported ?? true;
  closeOpen(draft, thread);
  if (!isOverBudget(draft.state, draft.now)) return cancelTurn(draft, thread, { isReported });
  closeTurn(draft, thread, { end: 'limit', error: 'the budget is used up', stop: endTurn, isReported });
}

/** What a thread of a program has open when its turn ends: a request, and calls whose results will not come. */
export function closeOpen(draft: Draft, thread: ThreadState): void {
  dropRequest(draft, thread);
  for (const call of openCallsOf(thread)) giveInterruption(draft, thread, call, 'error');
}

function loseTurn(draft: Draft, thread: ThreadState, message: string): void {
  if (thread.turn?.stopping !== null) return cancelProgramTurn(draft, thread);
  closeOpen(draft, thread);
  const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
  closeTurn(draft, thread, { end: 'error', error: message, stop, isReported: true });
}
