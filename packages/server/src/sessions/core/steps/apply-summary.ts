import type { Summarised } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { ThreadState } from '../state/state.ts';
import { toTotals } from '../state/usage.ts';

/** Logs a summary: it replaces the history of the thread. */
export function applySummary(draft: Draft, thread: ThreadState, summarised: Summarised): void {
  const { startId, history, usage, costNanoUsd, model } = summarised;
  draft.event(thread, 'span.model_request_end', {
    model_request_start_id: startId,
    is_error: false,
    model,
    model_usage: toTotals(usage, costNanoUsd),
    stop_reason: 'end_turn',
    stop_details: null,
  });
  if (history !== null) draft.event(thread, 'agent.thread_context_compacted', { history });
}
