import type { FileCounts } from '@fleetloom/protocol/fleet';
import type { Budget } from './payload-parts.ts';

/** The data in the summary of a session that has no column of its own. */
export interface SummaryData {
  readonly agent_id: string;
  readonly name: string;
  readonly title: string | null;
  readonly reason: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly changes: FileCounts | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly active_since: number | null;
  readonly needs_you: number;
  readonly threads: number;
  readonly failed_threads: number;
  /** The times at which threads that wait for a model become stalled, in ascending order. */
  readonly stalls: readonly number[];
  readonly created_by: string | null;
  readonly is_read_only: boolean;
  /** Absent in summaries of older versions. */
  readonly budget?: Budget | null;
  readonly budget_state?: BudgetState | null;
}

/** Whether a limit of the session's budget is reached. */
export type BudgetState = 'within' | 'reached';
