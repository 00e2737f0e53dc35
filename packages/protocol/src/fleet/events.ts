/**
 * The events of a fleet stream, as the wire names them. `type` is the name of the event and `cursor` its id; the other
 * fields are those of the data, unknown ones included.
 */
export type FleetEvent = KnownFleetEvent | UnknownEvent;

export type KnownFleetEvent = RunEvent | StreamEvent | ConnectionEvent;

/** About a run as a whole. */
export type RunEvent = RequestReceived | RunError | Done;

/** Said by or about one turn, which `stream_id` names. Ids begin at 0 with every run. */
export type StreamEvent =
  | StreamStart
  | AgentStart
  | RequestQueued
  | RequestAdmitted
  | RequestRetrying
  | ContextCompacted
  | SettingsLoaded
  | TextDelta
  | TextRetract
  | ThinkingDelta
  | ToolStart
  | ToolCall
  | FileWritten
  | ApprovalRequired
  | ApprovalResolved
  | SubAgentResponse
  | TokenUsage
  | StreamError
  | StreamEnd;

/** About the connection, not about the work. */
export type ConnectionEvent = GapTold | Over;

/** What every event has. */
export interface FleetEventBase {
  /** Where a reader goes on behind this event. It grows with every event; '' where the wire had none. */
  readonly cursor: string;
  /** Always there on streams of several sessions. */
  readonly session_id?: string;
  /** The number in the session's log, null where the wire had none. */
  readonly seq: number | null;
  /** Milliseconds since 1970, null where the wire had none. */
  readonly ts: number | null;
}

export interface StreamEventBase extends FleetEventBase {
  readonly stream_id: number;
  /** 0 for the master, 1 for those it delegates to, 2 for theirs. */
  readonly depth: number;
  readonly agent: string;
  readonly thread_id: string | null;
}

/** The first event of a run. */
export interface RequestReceived extends FleetEventBase {
  readonly type: 'request_received';
  readonly request_id: string;
  readonly session_id: string;
  readonly agent: string;
  /** The beginning of what was asked. */
  readonly message: string;
}

/** Opens a turn. */
export interface StreamStart extends StreamEventBase {
  readonly type: 'stream_start';
  readonly parent_stream_id: number | null;
  readonly child_index: number | null;
  /** What a sub-agent of a program was started for, where its name says only of which kind it is: show it instead of `agent`. */
  readonly title?: string;
  /** The beginning of what it was asked. */
  readonly task: string;
  readonly model: string;
}

/** Just before each model request of a turn. */
export interface AgentStart extends StreamEventBase {
  readonly type: 'agent_start';
  readonly model: string;
  readonly iteration: number;
}

/** The model request of an `agent_start` has to wait before it is made. `request_admitted` follows, or the turn's end. */
export interface RequestQueued extends StreamEventBase {
  readonly type: 'request_queued';
  /** `concurrency`: as many as may be are under way. `paused`: the endpoint has asked for a pause. Others may come. */
  readonly reason: string;
  /** How many requests were before it. */
  readonly ahead: number;
  /** When the pause ends, in milliseconds since 1970, where that is known. */
  readonly until?: number;
}

/** The wait of a request is over: it is made now. */
export interface RequestAdmitted extends StreamEventBase {
  readonly type: 'request_admitted';
}

/** A model request failed and will be made again: the next `agent_start` is that attempt. */
export interface RequestRetrying extends StreamEventBase {
  readonly type: 'request_retrying';
  /** E.g. `model_rate_limited_error`. */
  readonly code: string;
  /** E.g. `rate_limited`, `overloaded`, `connection_lost`, `restarted`. */
  readonly reason?: string;
  /** What went wrong; it begins with the HTTP status where there was one. */
  readonly message: string;
  /** The number of the attempt to come, and of the last one there would be. */
  readonly attempt: number;
  readonly attempts_max?: number;
  /** When it begins, in milliseconds since 1970. */
  readonly retry_at: number;
}

/** What the agent remembers was summed up, because its window was nearly full. */
export interface ContextCompacted extends StreamEventBase {
  readonly type: 'context_compacted';
}

/** Before the first model request of a program: what it has loaded beside the agent's definition. */
export interface SettingsLoaded extends StreamEventBase, LoadedSettings {
  readonly type: 'settings_loaded';
}

export interface LoadedSettings {
  /** `project` or `user`, as the session was configured. */
  readonly settings: string;
  /** Paths of the files with instructions, such as CLAUDE.md. */
  readonly instructions: readonly string[];
  /** Each as `<event>: <command>`. */
  readonly hooks: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Permission rules, each as `allow <rule>`, `ask <rule>` or `deny <rule>`. */
  readonly rules: readonly string[];
}

export interface TextDelta extends StreamEventBase {
  readonly type: 'text';
  readonly delta: string;
}

/** The text of the stream from this place on was provisional and is void. Counted as JavaScript counts characters. */
export interface TextRetract extends StreamEventBase {
  readonly type: 'text_retract';
  readonly from: number;
}

/** An empty delta is a sign of life. */
export interface ThinkingDelta extends StreamEventBase {
  readonly type: 'thinking';
  readonly delta: string;
}

export interface ToolStart extends StreamEventBase {
  readonly type: 'tool_start';
  readonly tool: string;
  readonly tool_use_id: string;
  readonly input: unknown;
  /** The client gives the result (`user.custom_tool_result`): a custom tool, or a question to the user. */
  readonly awaits_result?: boolean;
}

/** A tool, a delegation or a whole parallel block has finished. */
export interface ToolCall extends StreamEventBase {
  readonly type: 'tool_call';
  readonly tool: string;
  readonly tool_use_id: string;
  readonly ok: boolean;
  readonly duration_ms: number;
  readonly error?: string;
}

export interface FileWritten extends StreamEventBase {
  readonly type: 'file';
  readonly path: string;
  readonly size: number;
  readonly encoding: string;
  readonly content: string;
}

export interface ApprovalRequired extends StreamEventBase {
  readonly type: 'approval_required';
  readonly tool_use_id: string;
  readonly tool: string;
  readonly input: unknown;
  /** `plan`: the input holds a plan, and allowing it makes the agent carry it out. Left out: a tool call. */
  readonly kind?: string;
  /** Why the program of the agent asks, in its own words. */
  readonly reason?: string;
}

export interface ApprovalResolved extends StreamEventBase {
  readonly type: 'approval_resolved';
  readonly tool_use_id: string;
  readonly tool: string;
  readonly input: unknown;
  /** `allow` or `deny`; `withdrawn` where nobody has to answer any more. */
  readonly result?: string;
  /** Who answered: the name of a key, `client` where nobody has one; or what withdrew it, as `closed_by` in the log: `cancel`, `restart` … */
  readonly by?: string;
  /** What was allowed for good and gave this answer. Left out: somebody decided this one, or nobody had to. */
  readonly rule?: string;
  /** SHA-256 of the input, in hex, over its canonical JSON (RFC 8785). Left out where nobody answered, and by older logs. */
  readonly input_sha256?: string;
  /** The input that the call runs with, where whoever allowed it changed it. */
  readonly updated_input?: unknown;
}

/** The whole body of a delegated turn, once. */
export interface SubAgentResponse extends StreamEventBase {
  readonly type: 'sub_agent_response';
  readonly content: string;
}

/** After each model request. */
export interface TokenUsage extends StreamEventBase {
  readonly type: 'token_usage';
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_create_tokens: number;
  readonly cost_usd?: number;
  /** Of an answer: how many tokens of the window its request and it fill, and how many there are. */
  readonly context_tokens?: number;
  readonly context_window?: number;
}

/** Closes a turn, exactly once. */
export interface StreamEnd extends StreamEventBase {
  readonly type: 'stream_end';
  readonly ok: boolean;
  /** `end_turn`, `cancelled`, `error`, `limit`, … */
  readonly stop_reason: string;
  readonly error?: string;
}

/** What is wrong with a turn; its `stream_end` follows. */
export interface StreamError extends StreamEventBase {
  readonly type: 'error';
  readonly message: string;
  readonly code: string;
}

/** What is wrong with a run; its `done` follows. */
export interface RunError extends FleetEventBase {
  readonly type: 'error';
  readonly stream_id?: never;
  readonly message: string;
  readonly code: string;
}

/** The last event of a run, exactly once, whatever happened. The totals are those of the whole tree. */
export interface Done extends FleetEventBase {
  readonly type: 'done';
  readonly ok: boolean;
  readonly request_id: string;
  readonly session_id: string;
  /** The final synthesis alone. */
  readonly content: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd?: number;
  readonly files_bytes: number;
  readonly duration_ms: number;
  readonly error?: string;
  readonly error_code?: string;
}

/** Events between these two cursors exist no more, or did not get through. Said instead of leaving them out silently. */
export interface GapTold extends FleetEventBase {
  readonly type: 'gap';
  readonly after: string;
  readonly until: string;
  readonly reason?: string;
}

/** Nothing will follow, on no connection: the session was deleted, for example. */
export interface Over extends FleetEventBase {
  readonly type: 'over';
  readonly reason: string;
}

/** An event that this version does not know, or that is not what its name says. Nothing of it is lost. */
export interface UnknownEvent extends FleetEventBase {
  readonly type: 'unknown';
  /** The name on the wire. */
  readonly name: string;
  /** The data: what the JSON says, or the text where it is none. */
  readonly value: unknown;
  /** Why an event with a known name was not taken as such. */
  readonly problem?: string;
}
