import type { FleetEventBase, StreamEventBase } from './event-base.ts';
import type { FleetSession, FleetSessionState } from './sessions.ts';
import type { WorkspaceApplied, WorkspaceChanged, WorkspaceDiscarded } from './workspace-events.ts';

/**
 * The events of a fleet stream, with the names of the wire. `type` is the SSE event name and `cursor` its id; the other
 * fields come from the data, unknown fields included.
 */
export type FleetEvent = KnownFleetEvent | UnknownEvent;

/** The events that this version knows. */
export type KnownFleetEvent = RunEvent | StreamEvent | SessionLevelEvent | ConnectionEvent;

/** Events of a session outside of its turns. They can come between two runs. */
export type SessionLevelEvent = SessionFault | FilesRewound | WorkspaceChanged | WorkspaceApplied | WorkspaceDiscarded;

/** Events about a run as a whole. */
export type RunEvent = RequestReceived | RunError | Done;

/** Events of one turn, identified by `stream_id`. Stream ids start at 0 in every run. */
export type StreamEvent =
  | StreamStart
  | AgentStart
  | RequestQueued
  | RequestAdmitted
  | RequestRetrying
  | ContextCompacted
  | SettingsLoaded
  | PlanChanged
  | TextDelta
  | TextRetract
  | ThinkingDelta
  | ThinkingRetract
  | ToolStart
  | ToolOutput
  | ToolCall
  | FileWritten
  | ApprovalRequired
  | ApprovalResolved
  | SubAgentResponse
  | TokenUsage
  | StreamError
  | StreamEnd;

/** Events about the connection, not about the agents. */
export type ConnectionEvent = GapEvent | Over | SessionsChanged;

/** The first event of a run. */
export interface RequestReceived extends FleetEventBase {
  readonly type: 'request_received';
  /** The run. */
  readonly request_id: string;
  readonly session_id: string;
  /** The name of the coordinator. */
  readonly agent: string;
  /** The beginning of the run's input. */
  readonly message: string;
}

/** A turn starts. */
export interface StreamStart extends StreamEventBase {
  readonly type: 'stream_start';
  /** The turn that delegated to this one; null for the coordinator. */
  readonly parent_stream_id: number | null;
  /** The position among the tasks of one delegation; null for a turn that is not one of several. */
  readonly child_index: number | null;
  /** The task of a program's sub-agent. Show it instead of `agent`, which names only the kind of sub-agent. */
  readonly title?: string;
  /** The beginning of the turn's input. */
  readonly task: string;
  /** The model of the turn's first request. */
  readonly model: string;
}

/** A model request of the turn is about to be sent. */
export interface AgentStart extends StreamEventBase {
  readonly type: 'agent_start';
  readonly model: string;
  /** The number of the model request within the turn, from 1. */
  readonly iteration: number;
}

/** The model request of an `agent_start` has to wait. `request_admitted` follows, or the end of the turn. */
export interface RequestQueued extends StreamEventBase {
  readonly type: 'request_queued';
  /** `concurrency`: the endpoint's concurrency limit is reached. `paused`: the endpoint asked for a pause. More values may be added. */
  readonly reason: string;
  /** How many requests were ahead in the queue. */
  readonly ahead: number;
  /** When the pause ends, in milliseconds since 1970, if that is known. */
  readonly until?: number;
}

/** A queued model request is sent now. */
export interface RequestAdmitted extends StreamEventBase {
  readonly type: 'request_admitted';
}

/** A model request failed and will be retried: the next `agent_start` is that attempt. */
export interface RequestRetrying extends StreamEventBase {
  readonly type: 'request_retrying';
  /** The error, e.g. `model_rate_limited_error`. */
  readonly code: string;
  /** The cause, e.g. `rate_limited`, `overloaded`, `connection_lost`, `restarted`. */
  readonly reason?: string;
  /** The error message. Starts with the HTTP status if there was one. */
  readonly message: string;
  /** The number of the attempt that follows. */
  readonly attempt: number;
  /** The number of the last attempt that would be made. */
  readonly attempts_max?: number;
  /** When the attempt starts, in milliseconds since 1970. */
  readonly retry_at: number;
}

/** The agent's history was summarized because its context window was nearly full. */
export interface ContextCompacted extends StreamEventBase {
  readonly type: 'context_compacted';
}

/** Settings that a program loaded in addition to the agent's definition. Emitted before the program's first model request. */
export interface SettingsLoaded extends StreamEventBase, LoadedSettings {
  readonly type: 'settings_loaded';
}

/** Settings that a program found in the workspace or the user's home directory. */
export interface LoadedSettings {
  /** `project` or `user`, as the session was configured. */
  readonly settings: string;
  /** Paths of instruction files, such as CLAUDE.md. */
  readonly instructions: readonly string[];
  /** Hooks, each as `<event>: <command>`. */
  readonly hooks: readonly string[];
  /** Names of sub-agents. */
  readonly agents: readonly string[];
  /** Names of skills. */
  readonly skills: readonly string[];
  /** Permission rules, each as `allow <rule>`, `ask <rule>` or `deny <rule>`. */
  readonly rules: readonly string[];
}

/** The current plan of an agent of a program. Replaces the previous plan. */
export interface PlanChanged extends StreamEventBase {
  readonly type: 'plan';
  readonly items: readonly PlanTask[];
}

/** One task of a plan. */
export interface PlanTask {
  readonly text: string;
  /** `pending`, `in_progress`, `completed` or `cancelled`. */
  readonly status: string;
}

/** The next piece of the turn's text. */
export interface TextDelta extends StreamEventBase {
  readonly type: 'text';
  readonly delta: string;
}

/** The turn's text from a position on was provisional and is void. */
export interface TextRetract extends StreamEventBase {
  readonly type: 'text_retract';
  /** Position in the turn's text, in UTF-16 code units. */
  readonly from: number;
}

/** The next piece of the agent's thinking. An empty delta shows that the model is active. */
export interface ThinkingDelta extends StreamEventBase {
  readonly type: 'thinking';
  readonly delta: string;
}

/** Retracts the thinking of the stream from a character on, counted over all `thinking` events of the stream. */
export interface ThinkingRetract extends StreamEventBase {
  readonly type: 'thinking_retract';
  readonly from: number;
}

/** A tool call starts. */
export interface ToolStart extends StreamEventBase {
  readonly type: 'tool_start';
  /** The name of the tool. */
  readonly tool: string;
  readonly tool_use_id: string;
  readonly input: unknown;
  /** The client provides the result (`user.custom_tool_result`): a custom tool, or a question to the user. */
  readonly awaits_result?: boolean;
}

/** A running tool call wrote more output. Only some programs report it; at most the first 262,144 characters of a call. */
export interface ToolOutput extends StreamEventBase {
  readonly type: 'tool_output';
  /** The name of the tool. */
  readonly tool: string;
  readonly tool_use_id: string;
  readonly delta: string;
}

/** A tool call, a delegation or a whole parallel block has finished. */
export interface ToolCall extends StreamEventBase {
  readonly type: 'tool_call';
  /** The name of the tool. */
  readonly tool: string;
  readonly tool_use_id: string;
  readonly ok: boolean;
  readonly duration_ms: number;
  readonly error?: string;
}

/** A file was written in the workspace. */
export interface FileWritten extends StreamEventBase {
  readonly type: 'file';
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  /** Encoding of `content`, e.g. `utf-8`. */
  readonly encoding: string;
  readonly content: string;
}

/** A tool call waits for a person's approval. */
export interface ApprovalRequired extends StreamEventBase {
  readonly type: 'approval_required';
  readonly tool_use_id: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The whole input of the call. */
  readonly input: unknown;
  /** `plan`: the input holds a plan, and allowing it makes the agent execute it. Absent: a tool call. */
  readonly kind?: string;
  /** Why the agent's program asks, in its own words. */
  readonly reason?: string;
}

/** An approval was allowed, denied or withdrawn. */
export interface ApprovalResolved extends StreamEventBase {
  readonly type: 'approval_resolved';
  readonly tool_use_id: string;
  /** The name of the tool. */
  readonly tool: string;
  readonly input: unknown;
  /** `allow` or `deny`; `withdrawn` if no decision is needed any more. */
  readonly result?: string;
  /** The name of the API key that decided, `client` if there are no keys; or what withdrew the approval (`cancel`, `restart`, …). */
  readonly by?: string;
  /** The standing rule that decided. Absent: a person decided this call, or no decision was needed. */
  readonly rule?: string;
  /** The id of the rule by which the server itself decided, in the name of the key in `by` that created the rule. */
  readonly rule_id?: string;
  /** SHA-256 of the input's canonical JSON (RFC 8785), in hex. Absent without a decision, and in older logs. */
  readonly input_sha256?: string;
  /** The input that the call runs with, if the decision changed it. */
  readonly updated_input?: unknown;
}

/** The whole text of a delegated turn, once. */
export interface SubAgentResponse extends StreamEventBase {
  readonly type: 'sub_agent_response';
  readonly content: string;
}

/** Tokens and cost of one model request. */
export interface TokenUsage extends StreamEventBase {
  readonly type: 'token_usage';
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_create_tokens: number;
  /** Absent if the price of the model is not known. */
  readonly cost_usd?: number;
  /** Tokens of the context window that the request and its response fill. Absent for failed requests and summaries. */
  readonly context_tokens?: number;
  /** Size of the model's context window in tokens. */
  readonly context_window?: number;
}

/** A turn ends. Emitted exactly once per turn. */
export interface StreamEnd extends StreamEventBase {
  readonly type: 'stream_end';
  readonly ok: boolean;
  /** `end_turn`, `cancelled`, `error`, `limit`, … */
  readonly stop_reason: string;
  readonly error?: string;
}

/** A turn failed; its `stream_end` follows. */
export interface StreamError extends StreamEventBase {
  readonly type: 'error';
  readonly message: string;
  readonly code: string;
}

/** An error of a session outside of its turns, such as lost background work. It can come between two runs. */
export interface SessionFault extends FleetEventBase {
  readonly type: 'session_error';
  readonly message: string;
  readonly code: string;
  /** Why, e.g. `program_work_lost` or `workspace_lost`. */
  readonly reason?: string;
}

/** The program of a session restored files to their content before a message, on request. It comes between two runs. */
export interface FilesRewound extends FleetEventBase {
  readonly type: 'files_rewound';
  /** The `user.message` event before which the files had this content. */
  readonly message_id: string;
  /** The name of the key that requested it. */
  readonly by: string;
  /** The first 100 paths, as the program names them. */
  readonly files: readonly string[];
  /** How many files were restored in all. */
  readonly files_count: number;
  readonly lines_added: number;
  readonly lines_removed: number;
}

/** A run failed; its `done` follows. */
export interface RunError extends FleetEventBase {
  readonly type: 'error';
  readonly stream_id?: never;
  readonly message: string;
  readonly code: string;
}

/** The last event of a run, exactly once, whatever happened. Its totals include all turns of the run. */
export interface Done extends FleetEventBase {
  readonly type: 'done';
  readonly ok: boolean;
  /** The run. */
  readonly request_id: string;
  readonly session_id: string;
  /** The coordinator's final answer. */
  readonly content: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Absent if the price of a model is not known. */
  readonly cost_usd?: number;
  /** Bytes of all files written. */
  readonly files_bytes: number;
  readonly duration_ms: number;
  readonly error?: string;
  readonly error_code?: string;
}

/** Events between two cursors are gone, or did not arrive. Emitted instead of omitting them silently. */
export interface GapEvent extends FleetEventBase {
  readonly type: 'gap';
  /** The cursor after which events are missing. */
  readonly after: string;
  /** The cursor up to which events are missing. */
  readonly until: string;
  readonly reason?: string;
}

/** No further event follows on any connection, e.g. because the session was deleted. */
export interface Over extends FleetEventBase {
  readonly type: 'over';
  readonly reason: string;
}

/** Rows of `GET /v1/fleet/sessions` that changed, with `include=sessions`. It has no cursor: after a reconnect, list them again. */
export interface SessionsChanged extends FleetEventBase {
  readonly type: 'sessions_changed';
  /** The changed rows, at most 200 per event. */
  readonly sessions: readonly FleetSession[];
  /** How many sessions of the workspace have each state, archived ones included. A deleted session is only missing here. */
  readonly counts: Readonly<Record<FleetSessionState, number>>;
}

/** An event that this version does not know, or whose fields do not fit its name. Its data is kept unchanged. */
export interface UnknownEvent extends FleetEventBase {
  readonly type: 'unknown';
  /** The event name on the wire. */
  readonly name: string;
  /** The parsed JSON, or the text if the data is not JSON. */
  readonly value: unknown;
  /** Why an event with a known name was not accepted. */
  readonly problem?: string;
}
