/**
 * What a server knows about the running threads of a session in addition to their log: whether the process is alive, the
 * connection open, and when the last byte arrived. The response of `GET /v1/sessions/{session_id}/health`.
 */
export interface SessionHealth {
  readonly type: 'session_health';
  readonly session_id: string;
  /** Whether the health is known. False if the owner node did not respond. */
  readonly is_known: boolean;
  /** The owner node; `node_id` is null with a single server. Null: no node runs the session. */
  readonly owner: { readonly node_id: string | null } | null;
  /** The running threads. */
  readonly threads: readonly ThreadHealth[];
}

/** The activity of one running thread, and since when. */
export type ThreadHealth = {
  readonly id: string;
  /** When the activity began, ISO 8601. */
  readonly since: string;
} & (
  | {
      readonly doing: 'request';
      /**
       * `queued`: the request is not sent yet. `sent`: no byte of a response has arrived. `open`: the response has begun,
       * and the connection has neither ended nor failed. Null: the model engine has no connection.
       */
      readonly connection: 'queued' | 'sent' | 'open' | null;
      readonly last_byte_at: string | null;
    }
  | { readonly doing: 'tool'; readonly tool: string }
  | {
      readonly doing: 'program';
      /** The process id; null if the program is starting, or could not be started. */
      readonly pid: number | null;
      readonly is_alive: boolean;
      readonly last_byte_at: string | null;
      /** The tool that the program runs. */
      readonly tool: string | null;
    }
  /** The session runs in a terminal elsewhere. `tool` has no result yet: it is running, or it waits for permission there. */
  | { readonly doing: 'elsewhere'; readonly tool: string | null }
  | { readonly doing: 'wait'; readonly waits_for: 'retry' | 'threads' | 'somebody' }
);

/** How many model requests a server runs, and how many it may run. The response of `GET /v1/fleet/load`. */
export interface FleetLoad {
  readonly type: 'fleet_load';
  /** The node that these figures are about; null with a single server. */
  readonly node_id: string | null;
  readonly nodes: number;
  /** The Messages API endpoint; null if there is none. Other models and programs have no limit. */
  readonly endpoint: {
    readonly active: number;
    readonly waiting: number;
    /** How many requests may be active at this moment: fewer after the endpoint rejected requests. */
    readonly max: number;
    /** How long no request starts, because the endpoint asked for a pause. */
    readonly paused_ms: number;
  } | null;
}
