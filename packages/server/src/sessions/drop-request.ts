import { agentOf } from './agent-of.ts';
import type { Draft } from './draft.ts';
import { noUsage, type ThreadState } from './state.ts';

/** Ends a request that nobody waits for any more. What it used up will not be known. */
export function dropRequest(draft: Draft, thread: ThreadState): void {
  const phase = thread.turn?.phase;
  if (phase?.type !== 'requesting') return;
  draft.event(thread, 'span.model_request_end', {
    model_request_start_id: phase.startId,
    is_error: true,
    model: agentOf(draft.state, thread).model.id,
    model_usage: noUsage,
    stop_reason: null,
    stop_details: null,
  });
}
