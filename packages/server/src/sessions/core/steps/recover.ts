import type { Draft } from '../draft.ts';
import { cancelModelRequest } from '../turn/cancel-model-request.ts';
import { addInterruptedResult } from '../turn/add-tool-result.ts';
import { endLostProgram, type ProgramLoss } from '../program/end-lost-program.ts';
import { isProgramThread, listProgramRoots } from '../state/program-threads.ts';
import { openCallsOf, type ThreadState } from '../state/state.ts';

/**
 * Recovers what was in progress when the last owner died. Model requests are repeated, because they have no side effects. A tool
 * that had started may have done anything, so it is not run again: the model gets an error as its result. Calls that wait for
 * a client still wait.
 */
export function recover(draft: Draft, cause: string | null = null): void {
  const { state } = draft;
  // Members first: their reports must not begin another turn of a coordinator that is lost too.
  for (const root of listProgramRoots(state).toReversed()) endLostProgram(draft, root, toLoss(draft, root, cause));
  const message = cause === null ? RESTARTED : CLOSED;
  for (const thread of state.threads.values())
    if (!isProgramThread(state, thread)) recoverThread(draft, thread, message);
}

const RESTARTED = 'the server was restarted during this request';
/** The process still runs, but could not write the log, mostly because its database was away. */
const CLOSED = 'the server had to close the session during this request';

function recoverThread(draft: Draft, thread: ThreadState, message: string): void {
  if (thread.turn?.phase.type === 'requesting') {
    cancelModelRequest(draft, thread);
    draft.event(thread, 'session.error', {
      // The reason is stored, and decides that the attempt does not count as a failure of the model.
      error: { type: 'unknown_error', message, reason: 'restarted' },
      retry: 'retrying',
      retry_at: draft.now,
    });
  }
  for (const call of openCallsOf(thread))
    if (call.progress.type === 'running') addInterruptedResult(draft, thread, call);
}

/** `cause`: why this process lost the session; null: another process owned it until now. */
function toLoss(draft: Draft, root: ThreadState, cause: string | null): ProgramLoss {
  if (isReadOnly(draft)) return { message: unfollowed };
  const advice = root.parentId === null ? 'send a message to go on' : 'it can be continued in its thread';
  if (cause !== null) return { message: `the server had to close the session (${cause}): ${advice}` };
  const message = root.parentId === null ? toRestarted(draft.state.id) : `the server was restarted: ${advice}`;
  return { message, by: 'restart' };
}

function isReadOnly({ state }: Draft): boolean {
  return state.created.is_read_only === true;
}

/** The session may continue where it runs; the next import continues it here. */
const unfollowed = 'no client follows this session any more';

/** The program ended with the server. Its conversation is on disk, and the next message continues it. */
const toRestarted = (sessionId: string) =>
  `the server was restarted: send a message to go on, or run "fleetloom continue ${sessionId}"`;
