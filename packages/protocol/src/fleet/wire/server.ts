/** A program that can run sessions, as `GET /v1/programs` lists it. */
export interface FleetProgram {
  readonly type: 'fleet_program';
  /** The first part of the models that it runs: `claude-code`. */
  readonly id: string;
  /** Null if it was not found, or if this workspace may not use programs. */
  readonly version: string | null;
  readonly is_sandboxed: boolean | null;
  /** Why sessions cannot use it; null if they can. */
  readonly problem: string | null;
  /** Models to choose from; the program accepts others as well. */
  readonly models: readonly string[];
}

/** `GET /v1/fleet/settings`: the caller, and what the operator of the server has configured. Times are ISO 8601. */
export interface FleetSettings {
  readonly type: 'fleet_settings';
  /** The node that answered; null for a server without others. */
  readonly node_id: string | null;
  readonly nodes: number;
  readonly workspace_id: string;
  /** Null on a server that needs no key. */
  readonly key_id: string | null;
  /** The keys of the workspace, the oldest first; never their secrets. */
  readonly keys: readonly FleetKey[];
  /** The endpoint of models; null if only scripted models and programs are available. */
  readonly model_endpoint: string | null;
  readonly machine: FleetMachine;
  readonly webhooks: readonly FleetWebhook[];
  readonly retention: {
    /** How long text deltas are kept after their turn; whole messages are kept. */
    readonly deltas: 'all' | 'none' | { readonly days: number };
    readonly webhook_event_ms: number;
    readonly login_ms: number;
    readonly login_link_ms: number;
  };
}

/** A key of a workspace. */
export interface FleetKey {
  readonly id: string;
  readonly name: string;
  readonly kind: 'api' | 'environment';
  readonly created_at: string;
}

/** What tools find on the machine of a server. */
export interface FleetMachine {
  /** Why bash does not run in a sandbox; null if it does. */
  readonly sandbox_problem: string | null;
  /** Protections that the sandbox does not have here. */
  readonly sandbox_gaps: readonly { readonly text: string; readonly fix: string }[];
  readonly has_ripgrep: boolean;
  readonly git_version: string | null;
  readonly git_problem: string | null;
}

/** What an address has received from this node since it started. */
export interface FleetWebhook {
  /** Without path and query, which are often secret. */
  readonly address: string;
  /** It answered 410: nothing is sent to it until the next start. */
  readonly is_gone: boolean;
  readonly delivered_count: number;
  /** Sessions with events that are not delivered yet. */
  readonly waiting_count: number;
  /** At most 20, the newest first. */
  readonly deliveries: readonly {
    readonly at: string;
    readonly delivered_count: number;
    readonly problem: string | null;
  }[];
}
