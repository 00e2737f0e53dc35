import type { Draft } from './draft.ts';
import { primaryOf } from './state.ts';

export interface Refusal {
  readonly code: string;
  readonly reason: string;
  /** What was asked. */
  readonly message: string;
}

/** A run that ends before it begins, so that whoever asked for it finds out where everybody looks. */
export function refuseRun(draft: Draft, { code, reason, message }: Refusal): void {
  const turn = { streamId: 0, depth: 0, run: draft.nextRunId() };
  const { agentName } = primaryOf(draft.state);
  draft.addInTurn(null, turn, 'run.started', { input_ids: [], agent_name: agentName, message });
  draft.addInTurn(null, turn, 'run.ended', { ok: false, stop_reason: 'error', error: reason, content: '', code });
}
