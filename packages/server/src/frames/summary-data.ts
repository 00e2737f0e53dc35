import type { FileCounts } from '@fleetloom/protocol/fleet';
import type { Budget } from './payload-parts.ts';

/** What a list of sessions shows beside the columns of its rows. */
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
  /** When each thread that waits for a model counts as stalled, the first one first. */
  readonly stalls: readonly number[];
  readonly created_by: string | null;
  readonly is_read_only: boolean;
  /** Absent in summaries of older versions. */
  readonly budget?: Budget | null;
  readonly budget_state?: BudgetState | null;
}

/** Whether a bound of a session's budget is reached. */
export type BudgetState = 'within' | 'reached';
