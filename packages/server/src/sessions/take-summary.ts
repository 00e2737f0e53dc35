import type { Message } from '../base/content.ts';
import type { Usage } from '../engines/engine.ts';
import type { Draft } from './draft.ts';
import type { ThreadState } from './state.ts';
import { toTotals } from './take-answer.ts';

export interface Summarised {
  readonly startId: string;
  /** What the agent is told from now on. Null: there was nothing that could be summed up. */
  readonly history: readonly Message[] | null;
  readonly usage: Usage;
  readonly costNanoUsd: number | null;
  readonly model: string;
}

/** The model has summed up what was said: from here on that is what it is told. */
export function takeSummary(draft: Draft, thread: ThreadState, summarised: Summarised): void {
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
