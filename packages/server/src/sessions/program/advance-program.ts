import { isOverBudget } from '../budget.ts';
import type { Draft } from '../draft.ts';
import { interrupt } from '../interrupt.ts';
import { openCallsOf, type ThreadState } from '../state.ts';
import { cancelProgramTurn } from './lose-program.ts';
import { startCall } from './take-program-call.ts';

/**
 * What follows in the turn of a program's thread without anything from outside: what somebody has allowed runs. A program
 * cannot pause, so a budget that is used up stops it; what was said last is then not even told to it.
 */
export function advanceProgram(draft: Draft, thread: ThreadState): void {
  if (thread.turn!.stopping === null && isOverBudget(draft.state, draft.now)) {
    const isFresh = draft.frames.some(({ type, threadId }) => type === 'turn.started' && threadId === thread.id);
    if (isFresh && thread.parentId === null) return cancelProgramTurn(draft, thread);
    interrupt(draft, [...draft.state.threads.values()], 'limit');
  }
  for (const { id, progress } of openCallsOf(thread))
    if (progress.type === 'due') startCall(draft, thread, id, 'allow');
}
