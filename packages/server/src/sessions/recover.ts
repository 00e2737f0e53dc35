import type { Draft } from './draft.ts';
import { dropRequest } from './drop-request.ts';
import { giveInterruption } from './give-result.ts';
import { openCallsOf, type ThreadState } from './state.ts';

/**
 * What was under way when the last owner died. Model requests are repeated, as they change nothing outside. A tool that
 * had started may have done anything, so it is not run again: the model is told, and decides. What waits for somebody
 * outside still waits.
 */
export function recover(draft: Draft): void {
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
