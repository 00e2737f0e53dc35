/**
 * What a server knows of the threads of a session that are at work, beside what their log says: whether the process is
 * alive, the connection open, and when the last byte came. `GET /v1/sessions/{session_id}/health` tells it.
 */
export interface SessionHealth {
  readonly type: 'session_health';
  readonly session_id: string;
  /** False: who owns the session did not answer, and nobody else knows. */
  readonly is_known: boolean;
  /** Who works on it; `node_id` is null where there is one server only. Null: nobody does anything for it. */
  readonly owner: { readonly node_id: string | null } | null;
  /** Those at work. */
  readonly threads: readonly ThreadHealth[];
}

export type ThreadHealth = {
  readonly id: string;
  /** Since when it does that. */
  readonly since: string;
} & (
  | {
      readonly doing: 'request';
      /**
       * `queued`: it may not be sent yet. `sent`: nothing was answered. `open`: the answer has begun, and its connection
       * has neither ended nor failed. Null: what answers it has no connection.
       */
      readonly connection: 'queued' | 'sent' | 'open' | null;
      readonly last_byte_at: string | null;
    }
  | { readonly doing: 'tool'; readonly tool: string }
  | {
      readonly doing: 'program';
      /** Null: it is being started, or could not be. */
      readonly pid: number | null;
      readonly is_alive: boolean;
      readonly last_byte_at: string | null;
      /** The tool that it runs. */
      readonly tool: string | null;
    }
  /** The session runs in a terminal elsewhere. `tool` has no result yet: it is running, or it waits for permission there. */
  | { readonly doing: 'elsewhere'; readonly tool: string | null }
  | { readonly doing: 'wait'; readonly waits_for: 'retry' | 'threads' | 'somebody' }
);

/** How many model requests a server has under way, and how many it may have. `GET /v1/fleet/load` tells it. */
export interface FleetLoad {
  readonly type: 'fleet_load';
  /** Whose figures these are, and among how many; null where there is one server only. */
  readonly node_id: string | null;
  readonly nodes: number;
  /** Of the endpoint of the Messages API; null if there is none. Other models, and programs, have no bound. */
  readonly endpoint: {
    readonly active: number;
    readonly waiting: number;
    /** How many may be active at this moment: fewer after the endpoint has complained. */
    readonly max: number;
    /** For how long nothing starts, because the endpoint wants a pause. */
    readonly paused_ms: number;
  } | null;
}
