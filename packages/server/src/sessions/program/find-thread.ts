import { MAIN } from '../../engines/program.ts';
import { type Call, primaryOf, type SessionState, type ThreadState } from '../state.ts';

/** The thread that a program names so. One that was archived is not it any more. */
export function findThread(state: SessionState, key: string): ThreadState | undefined {
  if (key === MAIN) return primaryOf(state);
  return [...state.threads.values()].find(({ programKey, status }) => programKey === key && status !== 'terminated');
}

/** The call that the model names so. */
export function findCall(thread: ThreadState | undefined, callId: string | null): Call | undefined {
  return [...(thread?.calls.values() ?? [])].find((call) => call.callId === callId);
}
