import type { Draft } from './draft.ts';
import type { AskClosedBy } from '../frames/frames.ts';
import { dropRequest } from './drop-request.ts';
import { cancelTurn } from './end-turn.ts';
import { giveInterruption } from './give-result.ts';
import { type OpenTurn, openCallsOf, type ThreadState } from './state.ts';

/**
 * Stops threads at once. Model requests are dropped; tools that run are told to stop, and the turn ends when they have.
 * Who delegated to a thread is told, unless it is stopped too.
 */
export function interrupt(draft: Draft, threads: readonly ThreadState[], by: AskClosedBy): void {
  // Those who were delegated to first: a call that waits for them ends behind them.
  for (const thread of threads.toReversed()) {
    const { turn } = thread;
    if (turn === null || !isStoppable(thread)) continue;
    stop(draft, thread, turn, { isReported: !threads.some(({ id }) => id === thread.parentId), by });
  }
}

/** Whether there is something to stop. What the budget has paused stands still, and raising it should find it as it was. */
export function isStoppable({ turn, status, stop: { reason } }: ThreadState): boolean {
  return turn !== null && !(status === 'idle' && reason.type === 'budget_reached');
}

interface Stop {
  readonly isReported: boolean;
  readonly by: AskClosedBy;
}

function stop(draft: Draft, thread: ThreadState, turn: OpenTurn, { isReported, by }: Stop): void {
  if (turn.phase.type === 'program') return stopProgram(draft, thread, turn, { isReported, by });
  dropRequest(draft, thread);
  const waiting = openCallsOf(thread).filter(({ progress }) => progress.type !== 'running');
  for (const call of waiting) giveInterruption(draft, thread, call, by);
  if (openCallsOf(thread).length === 0) return cancelTurn(draft, thread, { isReported });
  // A second interrupt may reach who would have been told after the first one.
  const isToldStill = isReported && (turn.stopping?.isReported ?? true);
  if (turn.stopping?.isReported !== isToldStill) draft.add(thread, 'turn.stopping', { is_reported: isToldStill });
}

/** A program has to stop it, and says when it has. What waits for somebody outside waits no more. */
function stopProgram(draft: Draft, thread: ThreadState, turn: OpenTurn, { isReported, by }: Stop): void {
  const asks = openCallsOf(thread).filter(({ progress: { type } }) => type === 'asking' || type === 'outside');
  for (const call of asks) giveInterruption(draft, thread, call, by);
  const isToldStill = isReported && (turn.stopping?.isReported ?? true);
  if (turn.stopping?.isReported !== isToldStill) draft.add(thread, 'turn.stopping', { is_reported: isToldStill });
}
