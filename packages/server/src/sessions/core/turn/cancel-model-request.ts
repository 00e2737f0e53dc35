import { agentOf } from '../state/agent-of.ts';
import type { Draft } from '../draft.ts';
import { noUsage, type ThreadState } from '../state/state.ts';

/** Logs the end of a model request that was cancelled, with the usage that its engine had reported. */
export function cancelModelRequest(draft: Draft, thread: ThreadState): void {
  const phase = thread.turn?.phase;
  const startId = phase?.type === 'requesting' || phase?.type === 'program' ? phase.startId : null;
  if (startId === null) return;
  draft.event(thread, 'span.model_request_end', {
    model_request_start_id: startId,
    is_error: true,
    model: agentOf(draft.state, thread).model.id,
    model_usage: draft.spentOn(startId) ?? noUsage,
    stop_reason: null,
    stop_details: null,
  });
}
