import { isOverBudget } from '../state/budget.ts';
import type { Draft } from '../draft.ts';
import { interrupt } from '../turn/interrupt.ts';
import { isProgramThread } from '../state/program-threads.ts';
import { steeringOf } from '../turn/next-inbox-messages.ts';
import { joinResults, performDelegation } from '../delegation/delegation.ts';
import { addToolResult } from '../turn/add-tool-result.ts';
import { type Call, openCallsOf, type ThreadState } from '../state/state.ts';
import { cancelProgramTurn } from './end-lost-program.ts';
import { startCall } from './apply-program-call.ts';

/**
 * Advances the turn of a program's thread without anything from outside: allowed calls start, the session delegates. A program cannot pause, so a
 * budget that is used up stops it; the newest message is then not sent to it.
 */
export function advanceProgram(draft: Draft, thread: ThreadState): void {
  if (thread.turn!.stopping === null && isOverBudget(draft.state, draft.now)) {
    const isFresh = draft.frames.some(({ type, threadId }) => type === 'turn.started' && threadId === thread.id);
    if (isFresh && thread.programKey === null) return cancelProgramTurn(draft, thread);
    // Threads of models pause on their own.
    const { state } = draft;
    const running = [...state.threads.values()].filter((other) => isProgramThread(state, other));
    interrupt(draft, running, 'limit');
  }
  const { turn, programKey } = thread;
  if (programKey === null && turn!.stopping === null)
    for (const said of steeringOf(thread)) draft.add(thread, 'user.message', said);
  for (const call of openCallsOf(thread)) advanceCall(draft, thread, call);
}

function advanceCall(draft: Draft, thread: ThreadState, call: Call): void {
  if (call.progress.type === 'due') {
    if (call.kind === 'session') performDelegation(draft, thread, call);
    else startCall(draft, thread, call.id, 'allow');
  }
  if (call.progress.type !== 'joining' || call.name !== 'delegate') return;
  const answer = joinResults(call);
  if (answer !== undefined) addToolResult(draft, thread, call, answer);
}
