/** A program that can run sessions, as `GET /v1/programs` lists it. */
export interface FleetProgram {
  readonly type: 'fleet_program';
  /** The first part of the names of its models: `claude-code`. */
  readonly id: string;
  /** The installed version; null if the program was not found, or if this workspace may not use programs. */
  readonly version: string | null;
  readonly is_sandboxed: boolean | null;
  /** Why sessions cannot use the program; null if they can. */
  readonly problem: string | null;
  /** Models to choose from; the program accepts others as well. */
  readonly models: readonly string[];
}

/** `GET /v1/fleet/settings`: the caller, and the configuration of the server. Times are ISO 8601. */
export interface FleetSettings {
  readonly type: 'fleet_settings';
  /** The node that responded; null for a single server. */
  readonly node_id: string | null;
  readonly nodes: number;
  readonly workspace_id: string;
  /** The key of the caller; null on a server that needs no key. */
  readonly key_id: string | null;
  /** The scopes of the caller, see {@link FleetScope}. */
  readonly scopes: readonly FleetScope[];
  /** The role of a signed-in browser, if its login link was made for one. */
  readonly role: FleetRole | null;
  /** The person who signed in at an OpenID provider; null for a key, and for logins made with one. */
  readonly person: FleetPerson | null;
  /** The keys of the workspace, the oldest first; never their secrets. Without the scope `admin` only the caller's own. */
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

/** A scope of an API key. No scope includes another one. */
export type FleetScope = 'read' | 'run' | 'approve' | 'manage' | 'admin';

/** A named set of scopes, for people. */
export type FleetRole = 'viewer' | 'approver' | 'operator' | 'admin';

/** The kinds of callers in the audit log. A `person` has signed in at an OpenID provider. */
export type FleetAuditCaller =
  | 'key'
  | 'login'
  | 'person'
  | 'provider'
  | 'worker'
  | 'rule'
  | 'command'
  | 'system'
  | 'open'
  | 'stranger';

/** An entry of the audit log, as `GET /v1/fleet/audit` lists it. Its hash covers everything else in it and the entry before. */
export interface FleetAuditEntry {
  readonly type: 'audit_entry';
  readonly workspace_id: string;
  /** The number of the entry in its workspace, from 1 without gaps. */
  readonly seq: number;
  readonly recorded_at: string;
  readonly entry: {
    /** `agent.created`, `approval.decided`, … */
    readonly action: string;
    /** `stranger`: a browser that no key and no provider has identified. */
    readonly by: { readonly type: FleetAuditCaller } & Readonly<Record<string, unknown>>;
    /** The address that the request came from. */
    readonly address?: string | null;
    /** The id of the request in the log of the server. */
    readonly request_id?: string;
    /** The id of the changed object. */
    readonly target: string | null;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  readonly hash: string;
}

/** A browser that is signed in, as `GET /v1/fleet/logins` lists it. */
export interface FleetLogin {
  readonly type: 'login';
  readonly id: string;
  readonly key_id: string | null;
  readonly role: FleetRole | null;
  /** The scopes of the login; null: the scopes of its key. */
  readonly scopes: readonly FleetScope[] | null;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  /** Whether this is the caller's own login. */
  readonly is_current: boolean;
  /** The person who signed in at an OpenID provider; the login has no key then. */
  readonly person: FleetPerson | null;
  /** The login that its link was made with; this login ends when that one ends. */
  readonly made_with: string | null;
}

/** A person, identified by an OpenID provider: issuer and subject are the identity, the rest is for people. */
export interface FleetPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
}

/** A key of a workspace. Fields that are null do not limit it. */
export interface FleetKey {
  readonly id: string;
  readonly name: string;
  readonly kind: 'api' | 'environment';
  readonly created_at: string;
  /** The scopes of the key; null: all scopes, or a key for workers, which has none. */
  readonly scopes: readonly FleetScope[] | null;
  readonly directories: readonly string[] | null;
  readonly engines: readonly string[] | null;
  readonly expires_at: string | null;
  /** When the key was last used; null if never, or before the server recorded it. */
  readonly last_used_at: string | null;
  readonly rotated_at: string | null;
  /** Until when a replaced secret is accepted in addition to the new one. */
  readonly overlap_until: string | null;
}

/** The requirements of tools on the machine of a server. */
export interface FleetMachine {
  /** Why bash does not run in a sandbox; null if it does. */
  readonly sandbox_problem: string | null;
  /** Protections that the sandbox does not have here. */
  readonly sandbox_gaps: readonly { readonly text: string; readonly fix: string }[];
  readonly has_ripgrep: boolean;
  readonly git_version: string | null;
  readonly git_problem: string | null;
}

/** The deliveries of this node to a webhook address since the node started. */
export interface FleetWebhook {
  /** The address without path and query, which are often secret. */
  readonly address: string;
  /** Whether the address responded with 410: nothing is sent to it until the next start. */
  readonly is_gone: boolean;
  readonly delivered_count: number;
  /** Sessions with events that are not delivered yet. */
  readonly waiting_count: number;
  /** The last deliveries, at most 20, the newest first. */
  readonly deliveries: readonly {
    readonly at: string;
    readonly delivered_count: number;
    readonly problem: string | null;
  }[];
}
