import type { Draft } from '../draft.ts';
import type { ApprovalClosedBy } from '../../../frames/payload-parts.ts';
import { cancelModelRequest } from './cancel-model-request.ts';
import { cancelTurn } from './end-turn.ts';
import { addInterruptedResult } from './add-tool-result.ts';
import { type OpenTurn, openCallsOf, type ThreadState } from '../state/state.ts';

/**
 * Stops threads at once. Model requests are cancelled; running tools are aborted, and the turn ends when they have stopped.
 * The parent of a thread gets a report, unless it is stopped too.
 */
export function interrupt(draft: Draft, threads: readonly ThreadState[], by: ApprovalClosedBy): void {
  // Children first: a call that waits for them ends after them.
  for (const thread of threads.toReversed()) {
    const { turn } = thread;
    if (turn === null || !isStoppable(thread)) continue;
    stop(draft, thread, turn, { isReported: !threads.some(({ id }) => id === thread.parentId), by });
  }
}

/** Whether there is something to stop. A turn that the budget has paused stays as it is until the budget is raised. */
export function isStoppable({ turn, status, stop: { reason } }: ThreadState): boolean {
  return turn !== null && !(status === 'idle' && reason.type === 'budget_reached');
}

interface Stop {
  readonly isReported: boolean;
  readonly by: ApprovalClosedBy;
}

function stop(draft: Draft, thread: ThreadState, turn: OpenTurn, { isReported, by }: Stop): void {
  if (turn.phase.type === 'program') return stopProgram(draft, thread, turn, { isReported, by });
  cancelModelRequest(draft, thread);
  const waiting = openCallsOf(thread).filter(({ progress }) => progress.type !== 'running');
  for (const call of waiting) addInterruptedResult(draft, thread, call, by);
  if (openCallsOf(thread).length === 0) return cancelTurn(draft, thread, { isReported });
  // A second interrupt may stop the parent that would have got a report after the first one.
  const isStillReported = isReported && (turn.stopping?.isReported ?? true);
  if (turn.stopping?.isReported !== isStillReported)
    draft.add(thread, 'turn.stopping', { is_reported: isStillReported });
}

/** The program has to stop the turn, and reports when it has. Calls that wait for a client end at once. */
function stopProgram(draft: Draft, thread: ThreadState, turn: OpenTurn, { isReported, by }: Stop): void {
  const asks = openCallsOf(thread).filter(({ progress: { type } }) => type === 'asking' || type === 'outside');
  for (const call of asks) addInterruptedResult(draft, thread, call, by);
  const isStillReported = isReported && (turn.stopping?.isReported ?? true);
  if (turn.stopping?.isReported !== isStillReported)
    draft.add(thread, 'turn.stopping', { is_reported: isStillReported });
}
