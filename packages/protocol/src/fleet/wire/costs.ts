import type { FleetSession } from './sessions.ts';

/** The query of `GET /v1/fleet/costs`. */
export interface FleetCostsQuery {
  /** Only sessions created at this time or later. ISO 8601. Default: 30 days before `to`. */
  readonly from?: string | undefined;
  /** Only sessions created at this time or earlier. ISO 8601. Default: now. */
  readonly to?: string | undefined;
  /** How far the local time of the days is ahead of UTC, in minutes: -840 to 840. Default: 0. */
  readonly utc_offset_minutes?: number | undefined;
}

/** `GET /v1/fleet/costs`: the costs of all sessions that were created in a period, archived sessions included. */
export interface FleetCosts {
  readonly type: 'fleet_costs';
  readonly from: string;
  readonly to: string;
  /** One group for each day, agent and model; the newest day first. */
  readonly groups: readonly FleetCostGroup[];
  /** The 50 most expensive sessions. */
  readonly sessions: readonly FleetSession[];
  /** Sessions with a budget, at most 50 of each state: sessions that reached their budget come first. */
  readonly budgets: readonly FleetBudget[];
  /** How many sessions with a budget there are, by whether they reached it. */
  readonly budget_counts: { readonly reached: number; readonly within: number };
  /** Sessions of an older version that are not part of any number yet. */
  readonly unlisted_count: number;
}

/** The sessions of one day, agent and model. */
export interface FleetCostGroup {
  /** The local day on which they were created: `2026-11-18`. */
  readonly day: string;
  /** The name of the coordinator. */
  readonly agent: string;
  /** The model of the coordinator; the cost is that of all threads. */
  readonly model: string;
  readonly sessions_count: number;
  /** Sessions whose cost is not known; `cost_usd` does not contain them. */
  readonly unpriced_count: number;
  readonly cost_usd: number;
  readonly tokens: number;
}

/** A session with a budget. A bound that is not set is null. */
export interface FleetBudget {
  readonly session: FleetSession;
  readonly is_reached: boolean;
  readonly max_cost_usd: number | null;
  readonly max_tokens: number | null;
  readonly max_requests: number | null;
  readonly max_active_ms: number | null;
}
