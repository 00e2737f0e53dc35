import type { Draft } from './draft.ts';
import { dropRequest } from './drop-request.ts';
import { giveInterruption } from './give-result.ts';
import { loseProgram, type ProgramLoss } from './program/lose-program.ts';
import { isProgram, openCallsOf, type ThreadState } from './state.ts';

/**
 * What was under way when the last owner died. Model requests are repeated, as they change nothing outside. A tool that
 * had started may have done anything, so it is not run again: the model is told, and decides. What waits for somebody
 * outside still waits.
 */
export function recover(draft: Draft, cause: string | null = null): void {
  if (isProgram(draft.state)) return loseProgram(draft, toLoss(draft, cause));
  for (const thread of draft.state.threads.values()) recoverThread(draft, thread);
}

function recoverThread(draft: Draft, thread: ThreadState): void {
  if (thread.turn?.phase.type === 'requesting') {
    dropRequest(draft, thread);
    draft.event(thread, 'session.error', {
      error: { type: 'unknown_error', message: 'the server was restarted during this request', reason: 'restarted' },
      retry: 'retrying',
      retry_at: draft.now,
    });
  }
  for (const call of openCallsOf(thread)) if (call.progress.type === 'running') giveInterruption(draft, thread, call);
}

/** `cause`: why this process gave the session up; null: another process owned it until now. */
function toLoss(draft: Draft, cause: string | null): ProgramLoss {
  if (isReadOnly(draft)) return { message: unfollowed };
  if (cause === null) return { message: toRestarted(draft.state.id), by: 'restart' };
  return { message: `the server had to close the session (${cause}): send a message to go on` };
}

function isReadOnly({ state }: Draft): boolean {
  return state.created.is_read_only === true;
}

/** It may go on where it is; if somebody tells of it again, it does here too. */
const unfollowed = 'nobody follows it any more';

/** The program went with the server. What its agents know is on disk, and the next message finds it there. */
const toRestarted = (sessionId: string) =>
  `the server was restarted: send a message to go on, or run "fleetloom continue ${sessionId}"`;
