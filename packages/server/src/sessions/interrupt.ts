import type { Draft } from './draft.ts';
import { dropRequest } from './drop-request.ts';
import { cancelTurn } from './end-turn.ts';
import { giveInterruption } from './give-result.ts';
import { type OpenTurn, openCallsOf, type ThreadState } from './state.ts';

/**
 * Stops threads at once. Model requests are dropped; tools that run are told to stop, and the turn ends when they have.
 * Who delegated to a thread is told, unless it is stopped too.
 */
export function interrupt(draft: Draft, threads: readonly ThreadState[]): void {
  // Those who were delegated to first: a call that waits for them ends behind them.
  for (const thread of threads.toReversed()) {
    const { turn } = thread;
    if (turn === null || !isStoppable(thread)) continue;
    stop(draft, thread, turn, { isReported: !threads.some(({ id }) => id === thread.parentId) });
  }
}

/** Whether there is something to stop. What the budget has paused stands still, and raising it should find it as it was. */
export function isStoppable({ turn, status, stop: { reason } }: ThreadState): boolean {
  return turn !== null && !(status === 'idle' && reason.type === 'budget_reached');
}

function stop(draft: Draft, thread: ThreadState, turn: OpenTurn, { isReported }: { isReported: boolean }): void {
  dropRequest(draft, thread);
  for (const call of openCallsOf(thread)) if (call.progress.type !== 'running') giveInterruption(draft, thread, call);
  if (openCallsOf(thread).length === 0) return cancelTurn(draft, thread, { isReported });
  // A second interrupt may reach who would have been told after the first one.
  const isToldStill = isReported && (turn.stopping?.isReported ?? true);
  if (turn.stopping?.isReported !== isToldStill) draft.add(thread, 'turn.stopping', { is_reported: isToldStill });
}
