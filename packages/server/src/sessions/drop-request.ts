import { agentOf } from './agent-of.ts';
import type { Draft } from './draft.ts';
import { noUsage, type ThreadState } from './state.ts';

/** Ends a request that nobody waits for any more. What it used up is known as far as it was told. */
export function dropRequest(draft: Draft, thread: ThreadState): void {
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
