import type { ApprovalClosedBy, NotApplied, SessionError } from '../../../frames/payload-parts.ts';
import { isOverBudget } from '../state/budget.ts';
import type { Draft } from '../draft.ts';
import { cancelModelRequest } from '../turn/cancel-model-request.ts';
import { cancelTurn, closeTurn, failTurn } from '../turn/end-turn.ts';
import { addInterruptedResult } from '../turn/add-tool-result.ts';
import { dropAnswer } from './drop-answer.ts';
import { endLostWork } from './end-lost-work.ts';
import { listProgramThreads } from '../state/program-threads.ts';
import { endTurn, openCallsOf, type Stopped, type ThreadState } from '../state/state.ts';

/** Why a program ended. */
export interface ProgramLoss {
  /** For people: why the program ended, and what to do. */
  readonly message: string;
  /** For programs. */
  readonly reason?: string | undefined;
  /** What withdraws the approvals that were open. */
  readonly by?: ApprovalClosedBy | undefined;
}

/**
 * A program has ended, and with it everything that it had under way: every turn ends where it is, every open approval is
 * withdrawn. Nothing is started again automatically, because what had been done by then is not known.
 */
export function endLostProgram(draft: Draft, root: ThreadState, loss: ProgramLoss): void {
  const { message, reason = 'program_lost', by = 'error' } = loss;
  const closing: Closing = { by, notApplied: by === 'restart' ? 'restarted' : 'program_ended' };
  const open = listProgramThreads(draft.state, root).filter(({ turn }) => turn !== null);
  for (const thread of open.toReversed()) if (thread !== root) loseTurn(draft, thread, message, closing);
  if (root.turn?.stopping === null) {
    closeOpen(draft, root, closing);
    failProgramTurn(draft, root, { type: 'unknown_error', message, reason });
  } else if (root.turn !== null) cancelProgramTurn(draft, root, closing);
  endLostWork(draft, root, message);
}

/** Ends a turn of a program's main agent with an error. Unlike that of a model, the thread of a roster member can be continued. */
export function failProgramTurn(draft: Draft, root: ThreadState, error: SessionError): void {
  if (root.parentId === null) return failTurn(draft, root, error);
  draft.event(root, 'session.error', { error, retry: 'exhausted', retry_at: null });
  closeTurn(draft, root, { end: 'error', error: error.message, stop: exhausted, isReported: true });
}

const exhausted: Stopped = { reason: { type: 'retries_exhausted' }, details: null };

/** A person stopped the turn, or the budget ended it. */
export function cancelProgramTurn(draft: Draft, thread: ThreadState, closing?: Closing): void {
  const isReported = thread.turn?.stopping?.isReported ?? true;
  closeOpen(draft, thread, closing);
  if (!isOverBudget(draft.state, draft.now)) return cancelTurn(draft, thread, { isReported });
  closeTurn(draft, thread, { end: 'limit', error: 'the budget is used up', stop: endTurn, isReported });
}

/** Why that which a thread has open is closed. */
export interface Closing {
  /** What withdraws its open approvals. */
  readonly by: ApprovalClosedBy;
  /** Why answers that were not handed to the program change nothing. */
  readonly notApplied: NotApplied;
}

/** What a thread of a program has open when its turn ends: a request, and calls whose results will not come. */
export function closeOpen(draft: Draft, thread: ThreadState, { by, notApplied } = TURN_ENDED): void {
  cancelModelRequest(draft, thread);
  for (const call of thread.calls.values()) dropAnswer(draft, thread, call, notApplied);
  for (const call of openCallsOf(thread)) addInterruptedResult(draft, thread, call, by);
}

/** The program ended the turn, and goes on. */
const TURN_ENDED: Closing = { by: 'error', notApplied: 'call_ended' };

function loseTurn(draft: Draft, thread: ThreadState, message: string, closing: Closing): void {
  if (thread.turn?.stopping !== null) return cancelProgramTurn(draft, thread, closing);
  closeOpen(draft, thread, closing);
  closeTurn(draft, thread, { end: 'error', error: message, stop: exhausted, isReported: true });
}
