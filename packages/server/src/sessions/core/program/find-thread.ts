import { MAIN } from '../../../engines/program/program.ts';
import { rootOf } from '../state/program-threads.ts';
import { type Call, type SessionState, type ThreadState } from '../state/state.ts';

/** The thread with this key of the program that runs `root`, unless it is terminated. */
export function findThread(state: SessionState, root: ThreadState, key: string): ThreadState | undefined {
  if (key === MAIN) return root;
  return [...state.threads.values()].find(
    (thread) => thread.programKey === key && thread.status !== 'terminated' && rootOf(state, thread) === root,
  );
}

/** The call with this id of the model. */
export function findCall(thread: ThreadState | undefined, callId: string | null): Call | undefined {
  return [...(thread?.calls.values() ?? [])].find((call) => call.callId === callId);
}
