import type {
  Networking,
  Packages,
  RepositoryError,
  RosterMember,
  SessionAgent,
} from '@fleetloom/protocol/managed-agents';
import type { InputBlock, ResultBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json/json.ts';

/** A text command that was not run, and why. The range counts characters of all text blocks of the response, joined. */
export interface NotRun {
  readonly from: number;
  readonly to: number;
  /** `quoted`: the thread had read the command before. `cut_off`: the response was cut off. `too_many`: earlier commands reached the limit. */
  readonly reason: 'quoted' | 'cut_off' | 'too_many';
}

/**
 * The first frame. It copies everything that the session needs from its agent and environment, so that later changes do not
 * affect it.
 */
export interface SessionCreated {
  readonly agent: SessionAgent;
  readonly environment: {
    readonly id: string;
    readonly type: 'cloud' | 'self_hosted';
    /** Which hosts its tools may reach, copied from the environment when the session was created. */
    readonly networking?: Networking;
    /** The packages that are installed for its tools; absent if there are none. */
    readonly packages?: Packages;
  };
  readonly primary_thread_id: string;
  readonly title: string | null;
  readonly metadata: JsonObject;
  readonly budget: Budget | null;
  /** The maximum depth of delegation. */
  readonly depth_max: number;
  /** Whether a session that has used up its budget ends, instead of pausing until the budget is raised. */
  readonly ends_at_budget?: boolean;
  /** Whether commands in the text of agents are run. */
  readonly text_commands?: boolean;
  /** The agents of the roster, in its order. */
  readonly members: readonly RosterMember[];
  /** The session runs elsewhere and is read-only here: it accepts no input. */
  readonly is_read_only?: boolean;
  /** The workspace has a source, so its files are recorded. */
  readonly is_recorded?: true;
  /** The source of the workspace, as it is displayed. */
  readonly source?: { readonly repository: string; readonly branch: string | null };
  /** The vaults whose credentials are used for calls of its MCP servers. */
  readonly vault_ids?: readonly string[];
  /** The name of the key of the caller. */
  readonly created_by?: string;
  /** The session that this one was forked from. Its history up to the last frame that is not newer than `seq` is shared. */
  readonly forked_from?: { readonly session_id: string; readonly seq: number };
}

/** What a session may spend. Null: unlimited. */
export interface Budget {
  readonly cost_nano_usd: number | null;
  readonly tokens: number | null;
  readonly requests: number | null;
  readonly wall_ms: number | null;
}

/** Why a thread became idle, as on the wire. */
export type StopReason =
  | { readonly type: 'end_turn' }
  | { readonly type: 'requires_action'; readonly event_ids: readonly string[] }
  | { readonly type: 'retries_exhausted' }
  | { readonly type: 'budget_reached' }
  | { readonly type: 'refusal' };

/** Why the model refused, if it stated that. */
export interface StopDetails {
  readonly type: 'refusal';
  readonly category: string | null;
  readonly explanation: string | null;
}

/** How a turn ended. */
export type TurnEnd = 'end_turn' | 'cancelled' | 'error' | 'refusal' | 'limit';

/** `concurrency`: the maximum number of requests is in progress. `paused`: the endpoint asked for a pause. */
export type QueueReason = 'concurrency' | 'paused';

/** What a model request is for. */
export type RequestPurpose = 'turn' | 'compaction';

export interface ThreadStatus {
  readonly id: string;
  readonly session_thread_id: string;
  readonly agent_name: string;
}

export interface ToolUse {
  readonly id: string;
  /** The model's id of the call. Two threads may use the same id. */
  readonly call_id: string;
  readonly name: string;
  readonly input: Json;
  readonly evaluated_permission: 'allow' | 'ask' | 'deny';
  /**
   * Set for calls of programs: the program may refuse the call on its own, and an approval exists only after an
   * `approval.requested` follows. Without it `evaluated_permission: 'ask'` is the request, as in logs of older versions.
   */
  readonly approval?: 'on_request';
}

export interface ToolResultPayload {
  readonly id: string;
  readonly content: readonly ResultBlock[];
  readonly is_error: boolean;
  /** The call was stopped by a user or a crash. What it had done by then is unknown. */
  readonly is_interrupted: boolean;
  readonly duration_ms: number;
  /** The approval that this result closes. */
  readonly closes_ask: string | null;
  /** What closed the approval. */
  readonly closed_by?: ApprovalClosedBy;
}

/**
 * `not_requested`: the program never asked, because it refused the call on its own or the call was stopped before.
 * `restart`: the process that ran the program ended. `release`: the server had reached its limit of idle programs. `error`:
 * the program ended on its own, or the turn failed.
 */
export type ApprovalClosedBy = 'cancel' | 'archive' | 'limit' | 'error' | 'not_requested' | 'restart' | 'release';

/**
 * Why an answer that the server had accepted had no effect: the call no longer waited when the session processed the answer.
 * `call_ended`: the call had a result, or its turn had ended. `session_ended`: the session had ended. `restarted`, `program_ended`:
 * the server, or the program, ended before the answer was delivered to the program.
 */
export type NotApplied = 'call_ended' | 'session_ended' | 'restarted' | 'program_ended';

/** `command`: a shell command in the background. `wake_up`: a turn that the program begins at a scheduled time. */
export type ProgramWorkKind = 'command' | 'wake_up' | 'task';

/** How background work of a program ended; `lost`: its process is gone. */
export type ProgramWorkOutcome = 'completed' | 'failed' | 'stopped' | 'lost';

export interface ThreadMessage {
  readonly id: string;
  readonly content: readonly InputBlock[];
}

/** A repository that could not be cloned, and why. */
export type RepositoryProblem = Pick<RepositoryError, 'type' | 'message' | 'repository_url'>;

/** What could not be prepared for a session when a run begins. */
export type PreparationProblem =
  | RepositoryProblem
  /** Packages could not be installed. */
  | { readonly type: 'unknown_error'; readonly message: string }
  /** The environment does not allow the hosts that a credential is for. */
  | {
      readonly type: 'credential_host_unreachable_error';
      readonly message: string;
      readonly credential_id: string;
      readonly vault_id: string;
    };

/** An error that the log records and clients receive. */
export interface SessionError {
  readonly type:
    | 'unknown_error'
    | 'model_overloaded_error'
    | 'model_rate_limited_error'
    | 'model_request_failed_error'
    | 'mcp_connection_failed_error'
    | 'mcp_authentication_failed_error'
    | 'billing_error'
    | 'tool_use_limit_reached_error'
    | 'compaction_limit_reached_error'
    | 'credential_host_unreachable_error'
    | RepositoryError['type'];
  readonly message: string;
  readonly mcp_server_name?: string;
  /** Set for errors of a repository. */
  readonly repository_url?: string | null;
  /** Set for errors of a credential. */
  readonly credential_id?: string;
  readonly vault_id?: string;
  readonly reason?: string;
}

/**
 * Tokens and cost. A null cost: the price of at least one model is unknown. Cost is counted in billionths of a dollar, as a
 * whole number, so that sums are exact in any order.
 */
export interface UsageTotals {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_5m_input_tokens: number;
  readonly cache_creation_1h_input_tokens: number;
  readonly cost_nano_usd: number | null;
}
