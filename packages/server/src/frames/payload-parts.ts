import type {
  Networking,
  Packages,
  RepositoryError,
  RosterMember,
  SessionAgent,
} from '@fleetloom/protocol/managed-agents';
import type { InputBlock, ResultBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json/json.ts';

/** Where in the text of an answer, all its blocks in a row, a command stands that was not run, and why it was not. */
export interface NotRun {
  readonly from: number;
  readonly to: number;
  /** `quoted`: the thread has read it before. `cut_off`: the answer was. `too_many`: there were others before it. */
  readonly reason: 'quoted' | 'cut_off' | 'too_many';
}

/**
 * The first frame: everything that the session needs from its agent and environment, so that later changes do not
 * affect it.
 */
export interface SessionCreated {
  readonly agent: SessionAgent;
  readonly environment: {
    readonly id: string;
    readonly type: 'cloud' | 'self_hosted';
    /** What its tools may reach: as it was when the session was made, whatever becomes of the environment. */
    readonly networking?: Networking;
    /** What is installed for its tools; left out if nothing is. */
    readonly packages?: Packages;
  };
  readonly primary_thread_id: string;
  readonly title: string | null;
  readonly metadata: JsonObject;
  readonly budget: Budget | null;
  /** How deep agents may delegate. */
  readonly depth_max: number;
  /** Whether what has used up its budget ends, instead of pausing until it is raised. */
  readonly ends_at_budget?: boolean;
  /** Whether commands in what agents write are run. */
  readonly text_commands?: boolean;
  /** The members of the roster, in its order. */
  readonly members: readonly RosterMember[];
  /** The session runs elsewhere and is only shown here: it accepts no input. */
  readonly is_read_only?: boolean;
  /** Its workspace has a source, so that its files are recorded. */
  readonly is_recorded?: true;
  /** What the workspace is made from, as people name it. */
  readonly source?: { readonly repository: string; readonly branch: string | null };
  /** The vaults whose credentials its MCP servers are called with. */
  readonly vault_ids?: readonly string[];
  /** The name of the key of the caller. */
  readonly created_by?: string;
  /** Everything up to the last frame of that session which is not newer than `seq` happened there. */
  readonly forked_from?: { readonly session_id: string; readonly seq: number };
}

/** What a session may use up. Null where there is no bound. */
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

/** `concurrency`: as many as may be are under way. `paused`: the endpoint has asked for a pause. */
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
  /** How the model names the call. Two threads may use the same one. */
  readonly call_id: string;
  readonly name: string;
  readonly input: Json;
  readonly evaluated_permission: 'allow' | 'ask' | 'deny';
  /**
   * Calls of programs have it: the program may refuse the call on its own, and an approval exists only once an
   * `approval.requested` follows. Without it `evaluated_permission: 'ask'` is the request, as in logs of older versions.
   */
  readonly approval?: 'on_request';
}

export interface ToolResultPayload {
  readonly id: string;
  readonly content: readonly ResultBlock[];
  readonly is_error: boolean;
  /** The call was stopped, by a user or a crash: what it had done by then is not known. */
  readonly is_interrupted: boolean;
  readonly duration_ms: number;
  /** The approval that this result closes. */
  readonly closes_ask: string | null;
  /** What closed it. */
  readonly closed_by?: ApprovalClosedBy;
}

/**
 * `not_requested`: the program never asked, because it refused the call on its own or the call was stopped before.
 * `restart`: the process that ran the program ended. `release`: this server keeps so many idle programs and no more. `error`:
 * the program ended on its own, or the turn failed.
 */
export type ApprovalClosedBy = 'cancel' | 'archive' | 'limit' | 'error' | 'not_requested' | 'restart' | 'release';

/**
 * Why an answer that the server had accepted changed nothing: the call no longer waited when the session took the answer up.
 * `call_ended`: the call had its result, or its turn had ended. `session_ended`: the session had ended. `restarted`, `program_ended`:
 * the server, or the program, ended before the answer was handed to the program.
 */
export type NotApplied = 'call_ended' | 'session_ended' | 'restarted' | 'program_ended';

/** `command`: a shell command in the background. `wake_up`: a turn that the program will begin at a time. */
export type ProgramWorkKind = 'command' | 'wake_up' | 'task';

/** How background work of a program ended; `lost`: its process is gone. */
export type ProgramWorkOutcome = 'completed' | 'failed' | 'stopped' | 'lost';

export interface ThreadMessage {
  readonly id: string;
  readonly content: readonly InputBlock[];
}

/** A repository that could not be cloned, and why. */
export type RepositoryProblem = Pick<RepositoryError, 'type' | 'message' | 'repository_url'>;

/** What a session has to do without when a run begins. */
export type PreparationProblem =
  | RepositoryProblem
  /** Packages could not be installed. */
  | { readonly type: 'unknown_error'; readonly message: string }
  /** The environment does not allow the hosts of a credential. */
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
  /** Of an error of a repository. */
  readonly repository_url?: string | null;
  /** Of an error of a credential. */
  readonly credential_id?: string;
  readonly vault_id?: string;
  readonly reason?: string;
}

/**
 * Tokens and money. Null money: at least one model's price is not known. Money is counted in billionths of a dollar, a
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
