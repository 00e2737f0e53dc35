import type { Draft } from '../draft.ts';
import { primaryOf } from '../state/state.ts';

/** Why a run cannot begin. */
export interface Refusal {
  readonly code: string;
  readonly reason: string;
  /** The task of the run. */
  readonly message: string;
}

/** Logs a run that ends before it begins, so that its caller finds the reason like that of any other run. */
export function rejectRun(draft: Draft, { code, reason, message }: Refusal): void {
  const turn = { streamId: 0, depth: 0, run: draft.nextRunId() };
  const { agentName } = primaryOf(draft.state);
  draft.addInTurn(null, turn, 'run.started', { input_ids: [], agent_name: agentName, message });
  draft.addInTurn(null, turn, 'run.ended', { ok: false, stop_reason: 'error', error: reason, content: '', code });
}
