import type { LineIssue } from './messages.ts';

/**
 * What the translator emits: one flat sequence for all agents.
 *
 * The envelope names the agent (`thread`, `stream_id`, `depth`) and the position (`seq`, `message_id`, `block`) in the
 * names of the wire; the payload of the seven events that other libraries document (`session_meta`, `thinking_delta`,
 * `text_delta`, `tool_use`, `tool_result`, `turn_complete`, `error`) has their documented field names.
 */
export type AgentEvent = Envelope & EventBody;

/** The fields of every event. */
export interface Envelope {
  /** The number of the event, without gaps from 0 over the whole stream. */
  seq: number;
  /** 0 is the main agent; every further agent gets the next number when it is first seen. */
  stream_id: number;
  /** 0 for the main agent, 1 for its sub-agents, 2 for their sub-agents. 1 while the parent is not yet known. */
  depth: number;
  /** `main`, or the id under which the agent was first seen: its task id, else the id of the call that spawned it. */
  thread: string;
  /** The time on the line, ISO 8601, if it has one. */
  ts?: string;
}

/** The event itself, without its envelope. */
export type EventBody =
  | SessionMeta
  | ThreadStart
  | ThreadUpdate
  | RunStart
  | ThreadProgress
  | ThreadStatusChange
  | ThreadReport
  | Prompt
  | TextDelta
  | ThinkingDelta
  | ToolUseStart
  | ToolInputDelta
  | ToolUse
  | ToolResult
  | Replace
  | Retract
  | BlockAborted
  | PermissionRequest
  | PermissionWithdrawn
  | TurnComplete
  | ErrorEvent
  | Gap
  | Raw
  | Unreadable;

/** Identifies a content block: (`thread`, `message_id`, `block`) is unique. */
export interface BlockPlace {
  /** Absent where the wire has none. */
  message_id?: string;
  /** Number of the block within its message. */
  block: number;
}

/** A turn starts: one per `system/init` line. */
export interface SessionMeta {
  type: 'session_meta';
  model: string;
  sessionId?: string;
  /** Number of the turn that starts, from 0. */
  turn: number;
  cwd?: string;
  tools?: string[];
  version?: string;
  permissionMode?: string;
}

/** Parent of an agent whose spawning call has not been seen yet. */
export const UNRESOLVED = 'unresolved';

/** What is known about an agent. */
export interface ThreadFacts {
  /** Key of the parent thread, or `unresolved` until the spawning call or task is seen. */
  parent: string;
  taskId?: string;
  /** Id of the call that spawned the agent: what its message lines carry as `parent_tool_use_id`. */
  toolUseId?: string;
  agentType?: string;
  description?: string;
  prompt?: string;
  background?: boolean;
}

/** An agent is seen for the first time. The main agent is there from the start and has no such event. */
export interface ThreadStart extends ThreadFacts {
  type: 'thread_start';
}

/** More became known about an agent. Only new facts are set; the envelope has the new depth. */
export interface ThreadUpdate extends Partial<ThreadFacts> {
  type: 'thread_update';
  /**
   * Key of another thread that turned out to be the same agent: the content of this thread belongs there, and no more
   * events follow on this one. Happens where an agent is seen by its call on one line and by its task on a permission
   * request before any line links the two.
   */
  sameAs?: string;
}

/** An agent is started, or started again by a follow-up. */
export interface RunStart {
  type: 'run_start';
  /** Number of this run of the agent, from 0. */
  run: number;
  runId?: string;
  toolUseId?: string;
  /** Reported only after the agent had ended: it does not run again. */
  late?: true;
}

/** What an agent is about to do, as the program reports it. */
export interface ThreadProgress {
  type: 'thread_progress';
  description?: string;
  toolName?: string;
  usage?: TaskUsage;
  run?: number;
  /** Belongs to a run before the current one. */
  late?: true;
}

/** The status of an agent. */
export type ThreadStatus = 'running' | 'completed' | 'failed' | 'stopped';

/** The status of an agent changed. */
export interface ThreadStatusChange {
  type: 'thread_status';
  status: ThreadStatus;
  /** Number of the run it belongs to; absent where the stream has no runs. */
  run?: number;
  /** Belongs to a run before the current one: the agent itself keeps running. */
  late?: true;
  /** `task`: from a task line; `report`: from the structured result of the call; `result`: only from the return of the call. */
  source: 'task' | 'report' | 'result';
  error?: string;
}

/** What an agent returned at the end of a run, and the run's usage. At most once per run. */
export interface ThreadReport {
  type: 'thread_report';
  run?: number;
  late?: true;
  summary?: string;
  usage?: TaskUsage;
}

/** The usage of an agent's run. */
export interface TaskUsage {
  totalTokens?: number;
  toolUses?: number;
  durationMs?: number;
}

/**
 * Input of an agent: text or an image. `prompt` starts a sub-agent, `follow_up` starts it again, `note` is a message of
 * the program in between; `user`, `synthetic` and `replay` are as marked on the wire.
 */
export interface Prompt {
  type: 'prompt';
  role: 'prompt' | 'follow_up' | 'note' | 'user' | 'synthetic' | 'replay';
  content: string;
  /** The block itself, where it is not text (an image). */
  media?: unknown;
}

/** The next piece of a text block. */
export interface TextDelta extends BlockPlace {
  type: 'text_delta';
  content: string;
  /** Set on the program's own error lines, e.g. `server_error`: the text is not the model's. */
  error?: string;
}

/** The next piece of a thinking block. */
export interface ThinkingDelta extends BlockPlace {
  type: 'thinking_delta';
  content: string;
}

/** A tool call begins to stream; its input follows as `tool_input_delta` and whole as `tool_use`. */
export interface ToolUseStart extends BlockPlace {
  type: 'tool_use_start';
  toolUseId: string;
  toolName: string;
}

/** The next piece of a tool call's input. */
export interface ToolInputDelta extends BlockPlace {
  type: 'tool_input_delta';
  toolUseId: string;
  /** Raw piece of the input's JSON text. */
  content: string;
}

/** A whole tool call. */
export interface ToolUse extends BlockPlace {
  type: 'tool_use';
  toolUseId: string;
  toolName: string;
  input: unknown;
}

/** The result of a tool call, on the thread that made the call. */
export interface ToolResult {
  type: 'tool_result';
  toolUseId: string;
  /** The text parts, joined by newlines. */
  output: string;
  isError: boolean;
  /** As it was on the wire: a string, an array of blocks, null, or absent. */
  content?: unknown;
  /** The program's structured form of the result, where it has one. */
  structured?: unknown;
}

/** A block differs from what was emitted before: this is its whole content. */
export interface Replace extends BlockPlace {
  type: 'replace';
  kind: string;
  /** Its text, where it is a text or thinking block. */
  content?: string;
  /** The whole block. */
  value: unknown;
  error?: string;
}

/** A block that was emitted is void: the wire retracted it. */
export interface Retract extends BlockPlace {
  type: 'retract';
}

/** A block was cut off by an interrupt; what was emitted of it stays valid. */
export interface BlockAborted extends BlockPlace {
  type: 'block_aborted';
}

/** A tool call waits for permission. */
export interface PermissionRequest {
  type: 'permission_request';
  requestId: string;
  toolUseId?: string;
  toolName: string;
  input: unknown;
  /** The whole request, suggestions included. */
  request: unknown;
}

/** A permission request needs no answer any more. */
export interface PermissionWithdrawn {
  type: 'permission_withdrawn';
  requestId: string;
}

/** Token counts of a turn. */
export interface TurnUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
}

/** A turn ended. Costs and tokens are those of this turn, over all agents; the wire has running totals. */
export interface TurnComplete {
  type: 'turn_complete';
  /** Number of the turn that ended: the oldest open one. */
  turn: number;
  sessionId?: string;
  subtype?: string;
  isError: boolean;
  result: string | null;
  errors?: string[];
  costUsd?: number;
  totalCostUsd?: number;
  /** All input tokens: uncached, read from the cache and written to it. */
  inputTokens?: number;
  outputTokens?: number;
  contextWindow?: number;
  usage?: TurnUsage;
  /** Tokens of the main agent alone, as on the wire. */
  mainUsage?: TurnUsage;
  durationMs?: number;
  numTurns?: number;
  stopReason?: string;
  terminalReason?: string;
  /** Why the program started the turn on its own, e.g. `task-notification`. */
  origin?: string;
  structuredOutput?: unknown;
  resultIndex?: number;
}

/** A turn failed. */
export interface ErrorEvent {
  type: 'error';
  message: string;
  sessionId?: string;
}

/** Result lines are missing: the wire numbers them, and at least one number was skipped. */
export interface Gap {
  type: 'gap';
  expected: number;
  got: number;
}

/** Anything that the translator does not interpret, unchanged. `kind` is `type`, `type/subtype` or `block/type`. */
export interface Raw extends Partial<BlockPlace> {
  type: 'raw';
  kind: string;
  value: unknown;
}

/** A line that could not be read. */
export interface Unreadable {
  type: 'unreadable';
  issue: LineIssue;
}
