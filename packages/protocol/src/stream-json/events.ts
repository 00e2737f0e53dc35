import type { LineIssue } from './messages.ts';

/**
 * What the translator says happened, one flat list for all agents.
 *
 * The envelope names the agent (`thread`, `stream_id`, `depth`) and the place (`seq`, `message_id`, `block`) in the words
 * of the wire; the payload of the seven events that other libraries document (`session_meta`, `thinking_delta`,
 * `text_delta`, `tool_use`, `tool_result`, `turn_complete`, `error`) has their documented field names.
 */
export type AgentEvent = Envelope & EventBody;

export interface Envelope {
  /** Dense from 0 over the whole stream. */
  seq: number;
  /** 0 is the main agent; every further agent gets the next number when it is first seen. */
  stream_id: number;
  /** 0 main, 1 its sub-agents, 2 their sub-agents. 1 while the parent is not yet known. */
  depth: number;
  /** `main`, or the id under which the agent was first seen: its task id, else the id of the call that spawned it. */
  thread: string;
  /** When the line says so: its own time, ISO 8601. */
  ts?: string;
}

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

/** The place of a block. `message_id` is absent where the wire carries none; (`thread`, `message_id`, `block`) is unique. */
export interface BlockPlace {
  message_id?: string;
  block: number;
}

/** A turn starts (every `system/init` is the start of one turn). */
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

/** Something was learnt about an agent afterwards. Only what is new is set; the envelope has the new depth. */
export interface ThreadUpdate extends Partial<ThreadFacts> {
  type: 'thread_update';
  /**
   * Key of another thread that turned out to be this same agent: what this one had belongs there, and nothing more comes on it.
   * Happens where an agent is seen by its call on a line, and by its task on a permission request, before anything links them.
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
  /** Told only after the agent had ended: it does not run again. */
  late?: true;
}

/** What an agent is about to do, as the program tells it. */
export interface ThreadProgress {
  type: 'thread_progress';
  description?: string;
  toolName?: string;
  usage?: TaskUsage;
  run?: number;
  /** Belongs to a run before the current one. */
  late?: true;
}

export type ThreadStatus = 'running' | 'completed' | 'failed' | 'stopped';

export interface ThreadStatusChange {
  type: 'thread_status';
  status: ThreadStatus;
  /** Number of the run it belongs to; absent where the stream tells no runs. */
  run?: number;
  /** Belongs to a run before the current one: the agent itself goes on. */
  late?: true;
  /** `task`: a task line said so; `report`: the structured result of the call; `result`: only that the call returned. */
  source: 'task' | 'report' | 'result';
  error?: string;
}

/** What an agent handed back at the end of a run, and what the run took. At most once per run. */
export interface ThreadReport {
  type: 'thread_report';
  run?: number;
  late?: true;
  summary?: string;
  usage?: TaskUsage;
}

export interface TaskUsage {
  totalTokens?: number;
  toolUses?: number;
  durationMs?: number;
}

/**
 * Text or an image that an agent was given. `prompt` starts a sub-agent, `follow_up` starts it again, `note` is what the
 * program tells it in between; `user`, `synthetic` and `replay` are as marked on the wire.
 */
export interface Prompt {
  type: 'prompt';
  role: 'prompt' | 'follow_up' | 'note' | 'user' | 'synthetic' | 'replay';
  content: string;
  /** The block itself, where it is no text (an image). */
  media?: unknown;
}

export interface TextDelta extends BlockPlace {
  type: 'text_delta';
  content: string;
  /** Set on the program's own error lines, e.g. `server_error`: the text is not the model's. */
  error?: string;
}

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

export interface ToolInputDelta extends BlockPlace {
  type: 'tool_input_delta';
  toolUseId: string;
  /** Raw piece of the input's JSON text. */
  content: string;
}

export interface ToolUse extends BlockPlace {
  type: 'tool_use';
  toolUseId: string;
  toolName: string;
  input: unknown;
}

/** The answer to a call, on the thread that made the call. */
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

/** A block turned out different from what was said before: this is all of it. */
export interface Replace extends BlockPlace {
  type: 'replace';
  kind: string;
  /** Its text, where it is a text or thinking block. */
  content?: string;
  /** The whole block. */
  value: unknown;
  error?: string;
}

/** A block that was said is void: the wire took it back. */
export interface Retract extends BlockPlace {
  type: 'retract';
}

/** A block was cut off by an interrupt; what was said of it stands. */
export interface BlockAborted extends BlockPlace {
  type: 'block_aborted';
}

export interface PermissionRequest {
  type: 'permission_request';
  requestId: string;
  toolUseId?: string;
  toolName: string;
  input: unknown;
  /** The whole request, suggestions included. */
  request: unknown;
}

export interface PermissionWithdrawn {
  type: 'permission_withdrawn';
  requestId: string;
}

export interface TurnUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
}

/** A turn ended. Costs and tokens are those of this turn, all agents together, whatever the wire's running totals were. */
export interface TurnComplete {
  type: 'turn_complete';
  /** Number of the turn that ended: the oldest that was open. */
  turn: number;
  sessionId?: string;
  subtype?: string;
  isError: boolean;
  result: string | null;
  errors?: string[];
  costUsd?: number;
  totalCostUsd?: number;
  /** Everything that was read: uncached, cached and written to the cache. */
  inputTokens?: number;
  outputTokens?: number;
  contextWindow?: number;
  usage?: TurnUsage;
  /** Tokens of the main agent alone, as the wire gives them. */
  mainUsage?: TurnUsage;
  durationMs?: number;
  numTurns?: number;
  stopReason?: string;
  terminalReason?: string;
  /** Why the program started the turn by itself, e.g. `task-notification`. */
  origin?: string;
  structuredOutput?: unknown;
  resultIndex?: number;
}

export interface ErrorEvent {
  type: 'error';
  message: string;
  sessionId?: string;
}

/** The wire counts its results, and one or more are missing here. */
export interface Gap {
  type: 'gap';
  expected: number;
  got: number;
}

/** Anything the translator does not interpret, untouched: `kind` is `type`, `type/subtype` or `block/type`. */
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
