import type { NotApplied } from '../../../frames/payload-parts.ts';
import type { Draft } from '../draft.ts';
import { isProgramThread } from '../state/program-threads.ts';
import { type Call, type ThreadState } from '../state/state.ts';

/**
 * An answer that was logged as applied never reached the program: the log has the reason, because the answer was acknowledged.
 * Threads of models apply an answer when it is logged.
 */
export function dropAnswer(draft: Draft, thread: ThreadState, { id, answerId }: Call, reason: NotApplied): void {
  if (answerId === null || !isProgramThread(draft.state, thread)) return;
  draft.add(thread, 'answer.not_applied', { answer_id: answerId, tool_use_id: id, reason });
}
