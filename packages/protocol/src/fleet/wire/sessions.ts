import type { FileCounts } from './files.ts';

/** The state of a session, in the words that every interface uses. `idle`: the session never ran. */
export type FleetSessionState = 'needs_you' | 'running' | 'stalled' | 'failed' | 'done' | 'idle' | 'archived';

/** A session as a row of `GET /v1/fleet/sessions`. Times are ISO 8601. */
export interface FleetSession {
  readonly type: 'fleet_session';
  readonly id: string;
  /** The beginning of the id without its constant part. Commands accept it in place of the id. */
  readonly short_id: string;
  /** The title, or the first words of the first message; never an id. */
  readonly name: string;
  readonly title: string | null;
  /** The state at the time of the response. `stalls_at` says when `running` becomes `stalled`. */
  readonly state: FleetSessionState;
  /** Why the session is in that state: the error, or what it needs. Null if the state needs no reason. */
  readonly reason: string | null;
  /** When the session counts as stalled unless an event arrives; null while nothing waits for a model. */
  readonly stalls_at: string | null;
  readonly agent: { readonly id: string; readonly name: string };
  /** The model, or the program that runs the session, such as `claude-code`. */
  readonly model: string;
  /** The directory or the URL that the workspace was made from. */
  readonly repository: string | null;
  readonly branch: string | null;
  /** Counts of the changes since the workspace was opened; null if its files are not recorded. */
  readonly changes: FileCounts | null;
  /** The cost; null if the cost of a model request is not known. */
  readonly cost_usd: number | null;
  /** All tokens: input, output, read from the cache and written to it. */
  readonly tokens: number;
  readonly created_at: string;
  /** When the session first ran; null if never. */
  readonly started_at: string | null;
  /** When the newest run ended; null while the session runs, and if it never ran. */
  readonly ended_at: string | null;
  /** How long it was running up to `active_since`, or in total while that is null. */
  readonly active_ms: number;
  readonly active_since: string | null;
  /** The last recorded event. Text that arrives is recorded every 10 s. */
  readonly last_activity_at: string;
  /** Approvals, questions and results that a person has to give. */
  readonly needs_you_count: number;
  readonly threads_count: number;
  readonly stalled_threads_count: number;
  readonly failed_threads_count: number;
  /** The name of the key that created the session, if it is known. */
  readonly created_by: string | null;
  /** Whether the session runs elsewhere and was only imported. */
  readonly is_read_only: boolean;
}

/** How many sessions have a value. */
export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

/**
 * The counts of a query. Each facet ignores the filter of its own dimension, so that it shows what another choice would find.
 * Archived sessions count only in `states`, unless they are requested.
 */
export interface FleetSessionFacets {
  readonly states: Readonly<Record<FleetSessionState, number>>;
  /** The counts by agent, the most frequent first, at most 100. */
  readonly agents: readonly FacetCount[];
  readonly models: readonly FacetCount[];
}

/** `GET /v1/fleet/sessions`. */
export interface FleetSessionList {
  readonly type: 'fleet_sessions';
  readonly data: readonly FleetSession[];
  /** How many sessions match, on all pages. */
  readonly total: number;
  readonly facets: FleetSessionFacets;
  /** Sessions of an older version that are not listed yet: the server adds them in the background. */
  readonly unlisted_count: number;
  /** The value of `cursor` for the next page; null on the last one. */
  readonly next_cursor: string | null;
}

/** What sessions can be sorted by. `state`: those that need a person first, then by activity. */
export type FleetSessionSort = 'activity' | 'created' | 'cost' | 'tokens' | 'duration' | 'name' | 'agent' | 'state';

/** The query of `GET /v1/fleet/sessions`. All filters have to match; of several values of one filter any. */
export interface FleetSessionQuery {
  readonly status?: readonly FleetSessionState[] | undefined;
  /** Words that the name, the first message or the agent's name contain, or the beginning of an id. */
  readonly q?: string | undefined;
  /** Only ids that begin with this, in any form that commands accept. */
  readonly id?: string | undefined;
  /** Names of agents. */
  readonly agent?: readonly string[] | undefined;
  readonly model?: readonly string[] | undefined;
  /** Only sessions with an event at this time or later. ISO 8601. */
  readonly from?: string | undefined;
  /** Only sessions created at this time or earlier. ISO 8601. */
  readonly to?: string | undefined;
  /** Only sessions with at least this cost in US dollars. */
  readonly min_cost?: number | undefined;
  /** Whether archived sessions are listed; `status=archived` lists only those. */
  readonly archived?: boolean | undefined;
  /** The sort key. Default: `activity`. */
  readonly sort?: FleetSessionSort | undefined;
  /** The direction. Default: `desc`, and `asc` for `name`, `agent` and `state`. */
  readonly order?: 'asc' | 'desc' | undefined;
  readonly cursor?: string | undefined;
  /** Rows of a page, 1 to 200. Default: 50. */
  readonly limit?: number | undefined;
}
