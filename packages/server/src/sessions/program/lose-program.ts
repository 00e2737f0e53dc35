import type { AskClosedBy } from '../../frames/frames.ts';
import { isOverBudget } from '../budget.ts';
import type { Draft } from '../draft.ts';
import { dropRequest } from '../drop-request.ts';
import { cancelTurn, closeTurn, failTurn } from '../end-turn.ts';
import { giveInterruption } from '../give-result.ts';
import { loseWork } from './lose-work.ts';
import { endTurn, openCallsOf, primaryOf, type Stopped, type ThreadState } from '../state.ts';

export interface ProgramLoss {
  /** For people: why the program ended, and what to do. */
  readonly message: string;
  /** For programs. */
  readonly reason?: string | undefined;
  /** What withdraws the approvals that were open. */
  readonly by?: AskClosedBy | undefined;
}

/**
 * The program has ended, and with it everything that it had under way: every turn ends where it is, every open approval is
 * withdrawn. Nothing is started again automatically, because what had been done by then is not known.
 */
export function loseProgram(draft: Draft, { message, reason = 'program_lost', by = 'error' }: ProgramLoss): void {
  const primary = primaryOf(draft.state);
  const children = [...draft.state.threads.values()].filter((thread) => thread !== primary && thread.turn !== null);
  for (const child of children.toReversed()) loseTurn(draft, child, message, by);
  if (primary.turn?.stopping === null) {
    closeOpen(draft, primary, by);
    failTurn(draft, primary, { type: 'unknown_error', message, reason });
  } else if (primary.turn !== null) cancelProgramTurn(draft, primary);
  loseWork(draft, message);
}

/** Somebody stopped it, or the budget did. */
export function cancelProgramTurn(draft: Draft, thread: ThreadState): void {
  const isReported = thread.turn?.stopping?.isReported ?? true;
  closeOpen(draft, thread);
  if (!isOverBudget(draft.state, draft.now)) return cancelTurn(draft, thread, { isReported });
  closeTurn(draft, thread, { end: 'limit', error: 'the budget is used up', stop: endTurn, isReported });
}

/** What a thread of a program has open when its turn ends: a request, and calls whose results will not come. */
export function closeOpen(draft: Draft, thread: ThreadState, by: AskClosedBy = 'error'): void {
  dropRequest(draft, thread);
  for (const call of openCallsOf(thread)) giveInterruption(draft, thread, call, by);
}

function loseTurn(draft: Draft, thread: ThreadState, message: string, by: AskClosedBy): void {
  if (thread.turn?.stopping !== null) return cancelProgramTurn(draft, thread);
  closeOpen(draft, thread, by);
  const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
  closeTurn(draft, thread, { end: 'error', error: message, stop, isReported: true });
}
