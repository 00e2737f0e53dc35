import type { Draft } from '../draft.ts';
import { logThreadOf, workUnderWay } from '../state/program-threads.ts';
import type { ThreadState } from '../state/state.ts';

/**
 * Logs the work of a program outside of turns as lost because the program has ended. Each piece has its own frame with the reason, and one
 * error reports all of them to clients. A wake-up whose time had passed was not lost.
 */
export function endLostWork(draft: Draft, root: ThreadState, reason: string): void {
  const lost = workUnderWay(root, draft.now);
  const thread = logThreadOf(root);
  for (const [work_id] of lost) draft.add(thread, 'program.work_ended', { work_id, outcome: 'lost', reason });
  for (const work_id of Object.keys(root.program.work)) {
    draft.add(thread, 'program.work_ended', { work_id, outcome: 'completed', reason: null });
  }
  if (lost.length === 0 || root.status === 'terminated') return;
  const names = lost.map(([, { kind, description }]) => `${kindNames[kind]} "${description}"`);
  const message = `${names.join(', ')} ended with the program: ${reason}`;
  const error = { type: 'unknown_error' as const, message, reason: 'program_work_lost' };
  draft.event(root, 'session.error', { error, retry: 'exhausted', retry_at: null });
}

const kindNames = { command: 'the background command', wake_up: 'the wake-up', task: 'the background task' } as const;
