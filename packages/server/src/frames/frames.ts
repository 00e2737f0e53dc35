import type { PlanTask } from '@fleetloom/protocol/fleet';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock, InputBlock, Message, ResultBlock, TextBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json/json.ts';
import type { Frame, NewFrame } from '../store/frame.ts';
import type { EgressEntry } from './egress-entry.ts';
import type { WorkspacePayloads } from './workspace-frames.ts';
import type {
  Budget,
  NotApplied,
  NotRun,
  ProgramWorkKind,
  ProgramWorkOutcome,
  QueueReason,
  RequestPurpose,
  SessionCreated,
  SessionError,
  StopDetails,
  StopReason,
  ThreadMessage,
  ThreadStatus,
  ToolResultPayload,
  ToolUse,
  TurnEnd,
  UsageTotals,
} from './payload-parts.ts';

/**
 * Everything that can happen in a session. Frames that the Managed Agents wire shows have the names of the wire, so that its view
 * is little more than a selection of fields. The other names are ours: `run.`, `turn.`, `tool.`, `delta.`.
 *
 * `id` is the id of the event on every wire. Fields may be added, but never renamed or removed: a log outlives the version that wrote it.
 */
export interface FramePayloads extends WorkspacePayloads {
  /** Always the first frame. The frames from here on are the whole session. */
  'session.created': SessionCreated;
  /** Only the fields that changed. */
  'session.updated': {
    id: string;
    title?: string | null;
    metadata?: JsonObject;
    agent?: SessionAgent;
    budget?: Budget | null;
  };
  'session.status_running': { id: string };
  'session.status_idle': { id: string; stop_reason: StopReason; stop_details: StopDetails | null };
  'session.status_rescheduled': { id: string };
  'session.status_terminated': { id: string; is_archived: boolean };
  'session.usage': { id: string; usage: UsageTotals; active_ms: number; budget: Budget | null };
  'session.error': {
    id: string;
    error: SessionError;
    retry: 'retrying' | 'exhausted' | 'terminal';
    /** When the server makes the next attempt. */
    retry_at: number | null;
    /** When the program makes the next attempt, and how many it makes at most; null if it does not report that. */
    program_retry?: { readonly at: number; readonly attempts_max: number | null };
  };
  'session.thread_created': {
    id: string;
    session_thread_id: string;
    agent_name: string;
    /** For sub-agents of the program's own types, of which many share a name: the task that this one was started for. */
    title?: string;
    /** An entry of the session's roster; null is the session's own agent, without its roster. */
    member: number | null;
    depth: number;
    /** The `delegate` call that waits for this thread's first turn, and the index of the task in that call. */
    joined_by: { readonly tool_use_id: string; readonly index: number } | null;
    /** The thread works in its own worktree. */
    isolation?: 'worktree';
    /** For a sub-agent of a program: the program's id of it. */
    program_key?: string;
    /** The program's id of the tool call that started the sub-agent: later lines may refer to it. */
    program_call?: string;
  };
  /**
   * A program has started. It can resume the conversation by this id later. This and other frames of a program are
   * logged on the thread of its main agent; if that is the session's own agent, on the session.
   */
  'program.opened': { conversation: string; version: string | null };
  /** The program's id of the last message of a turn of its main agent: the conversation can be forked at this message. */
  'program.message': { message: string };
  /** The session was forked. Its program continues with a copy of this conversation up to this message; null: with an empty one. */
  'program.forked':
    | { readonly conversation: string; readonly message: string }
    | { readonly conversation: null; readonly message: null };
  /** The settings that the program has loaded in addition to the agent's definition, as the session's metadata asks for. */
  'program.settings': {
    settings: 'project' | 'user';
    instructions: readonly string[];
    hooks: readonly string[];
    agents: readonly string[];
    skills: readonly string[];
    rules: readonly string[];
  };
  /**
   * The program has work in progress that belongs to no turn: a background command, or a scheduled wake-up. Until it ends
   * the program is kept, because the work happens in its process.
   */
  'program.work_started': {
    work_id: string;
    kind: ProgramWorkKind;
    description: string;
    /** For a wake-up: the time after which the program is no longer kept for it, whether it fired or not. */
    until: number | null;
  };
  'program.work_ended': {
    work_id: string;
    /** `lost`: the work ended with its program, for the reason given. */
    outcome: ProgramWorkOutcome;
    reason: string | null;
  };
  /** A caller made the program restore files to their state before a message. */
  'program.files_rewound': {
    message_id: string;
    /** The name of the caller's key. */
    by: string;
    /** Paths as the program reports them. */
    files: readonly string[];
    lines_added: number;
    lines_removed: number;
  };
  /** A connection from programs of the session to another host was opened, closed or refused. */
  'egress.connection': EgressEntry;
  'session.thread_status_running': ThreadStatus;
  'session.thread_status_idle': ThreadStatus & { stop_reason: StopReason; stop_details: StopDetails | null };
  'session.thread_status_rescheduled': ThreadStatus;
  'session.thread_status_terminated': ThreadStatus & { is_archived: boolean };

  /** A run begins: from a user's input until every thread of the session is idle. */
  'run.started': { input_ids: readonly string[]; agent_name: string; message: string };
  'run.ended': {
    ok: boolean;
    stop_reason: TurnEnd;
    error: string | null;
    content: string;
    /** Why the run never began, as a code. */
    code?: string;
  };
  'turn.started': {
    agent_name: string;
    /** The title of the thread, if it has one. */
    title?: string;
    model: string;
    /** Whether a program runs the thread, where that differs from the session's own agent. */
    is_program?: boolean;
    parent_stream_id: number | null;
    child_index: number | null;
    task: string;
  };
  'turn.ended': { ok: boolean; stop_reason: TurnEnd; error: string | null };
  /** The wait after a failed model request is over. */
  'turn.retried': Record<string, never>;
  /** The history no longer fits into the context window: the next model request asks for a summary. */
  'turn.overflowed': Record<string, never>;
  /** The turn was interrupted, and ends when its running tools have stopped. */
  'turn.stopping': { is_reported: boolean };
  /** A queued message is now part of the agent's history. */
  'turn.took': {
    message_id: string;
    /** The content that is sent to a program. */
    content?: readonly InputBlock[];
  };
  /** Queued messages are dropped, because the turn before them failed permanently. */
  'turn.flushed': { message_ids: readonly string[] };

  /** Logged twice with the same id if the message was queued: first with `is_processed: false`. */
  'user.message': { id: string; content: readonly InputBlock[]; is_processed: boolean };
  'system.message': { id: string; content: readonly TextBlock[]; is_processed: boolean };
  'user.interrupt': { id: string; session_thread_id: string | null };
  'user.tool_confirmation': {
    id: string;
    tool_use_id: string;
    result: 'allow' | 'deny';
    deny_message: string | null;
    /** The name of the key that decided. */
    by?: string;
    /** The rule by which the client decided; null: the person decided this call alone. */
    rule?: string | null;
    /** The stored rule by which the server decided; absent if a client sent the decision. */
    rule_id?: string;
    /** The SHA-256 of the input that was decided about, as `canonicalSha256` computes it. */
    input_sha256?: string;
    /** With `allow`: the input that the call runs with instead of its own. */
    updated_input?: JsonObject;
    updated_input_sha256?: string;
    /** With `deny`: also interrupts the turn that made the call. */
    interrupt?: true;
    not_applied?: NotApplied;
  };
  'user.custom_tool_result': {
    id: string;
    custom_tool_use_id: string;
    content: readonly ResultBlock[];
    is_error: boolean;
    /** The name of the sender's key, and the hash of the input, as for a confirmation. Rules do not apply to results. */
    by?: string;
    input_sha256?: string;
    not_applied?: NotApplied;
  };
  'user.tool_result': {
    id: string;
    tool_use_id: string;
    content: readonly ResultBlock[];
    is_error: boolean;
    not_applied?: NotApplied;
  };

  'agent.message': { id: string; content: readonly TextBlock[] };
  /** `block` is sent back to the model unchanged. */
  'agent.thinking': { id: string; block: AssistantBlock };
  /** A block that only the model can read, such as redacted thinking. */
  'agent.block': { block: AssistantBlock };
  'agent.tool_use': ToolUse & {
    kind: 'builtin' | 'session';
    runs_at: 'server' | 'worker';
    /** The call was a command in the model's text. Such a model receives its results as text, too. */
    is_command?: true;
  };
  /** `called_as` is the model's name of the tool, `name` that of the MCP server. */
  'agent.mcp_tool_use': ToolUse & { mcp_server_name: string; called_as: string };
  'agent.custom_tool_use': { id: string; call_id: string; name: string; input: Json; approval?: 'on_request' };
  /**
   * The program waits for a decision about this call. Only calls with `approval: 'on_request'` have this frame; for all others the
   * call itself requests the decision.
   */
  'approval.requested': {
    tool_use_id: string;
    kind: 'tool' | 'question' | 'plan';
    /** The program's own text. */
    reason: string | null;
    /** The input to decide about, if it differs from the input of the call. */
    input?: Json;
  };
  /** A decision, or the result of a custom tool, was delivered to the program that waits for it. */
  'answer.delivered': { answer_id: string; tool_use_id: string };
  /** The answer was logged, but did not reach the program: the call or the program ended first. */
  'answer.not_applied': { answer_id: string; tool_use_id: string; reason: NotApplied };
  /** The tool is about to run. Durable before it starts, so that no tool runs twice unnoticed. */
  'tool.started': {
    tool_use_id: string;
    /** Tasks of `delegate` that were rejected, and why. */
    refusals?: readonly { readonly index: number; readonly reason: string }[];
  };
  'agent.tool_result': ToolResultPayload & {
    tool_use_id: string;
    /** The file after the call, if the input of the call does not contain the whole content. */
    file?: { readonly path: string; readonly content: string };
  };
  'agent.mcp_tool_result': ToolResultPayload & { mcp_tool_use_id: string };
  'agent.thread_message_sent': ThreadMessage & { to_session_thread_id: string; to_agent_name: string | null };
  'agent.thread_message_received': ThreadMessage & {
    from_session_thread_id: string;
    from_agent_name: string | null;
    /** False: the message is queued for the next turn. */
    is_processed: boolean;
    /** The `delegate` call that this message answers. The model receives the text as the tool result, so no turn starts. */
    answers_call: string | null;
    /** Whether the reported turn ended with an error. */
    is_error: boolean;
  };
  /** The tasks that the agent of a program has planned, as they are now. */
  'agent.plan': { items: readonly PlanTask[] };
  /** From here on the agent's history is this one instead of everything before. */
  'agent.thread_context_compacted': { id: string; history: readonly Message[] };

  'span.model_request_start': { id: string; model: string; iteration: number; purpose: RequestPurpose };
  'span.model_request_end': {
    id: string;
    model_request_start_id: string;
    is_error: boolean;
    model: string;
    model_usage: UsageTotals;
    stop_reason: string | null;
    stop_details: StopDetails | null;
    /** The context window of the model, in tokens. */
    context_window?: number;
    /** Commands in the text of the response that look complete and were not run. */
    not_run?: readonly NotRun[];
  };
  /** The model request is queued until its endpoint can take one more. Like all deltas, it does not change the session's state. */
  'delta.queued': { reason: QueueReason; ahead: number; until: number | null };
  /** The queued model request is made now. */
  'delta.admitted': Record<string, never>;
  /** A block begins to stream. The event with this id follows when the model request succeeds. */
  'delta.started': { id: string; block: 'text' | 'thinking' };
  'delta.text': { id: string; text: string };
  'delta.thinking': { id: string; text: string };
  /** The running tool call with this id has written more. Its result has the output that counts. */
  'delta.output': { id: string; text: string };
}

/** The type of a frame, which determines its payload. */
export type FrameType = keyof FramePayloads;

/** A frame whose payload is known by its type. */
export type SessionFrame = {
  [Type in FrameType]: Omit<Frame, 'type' | 'payload'> & { readonly type: Type; readonly payload: FramePayloads[Type] };
}[FrameType];

/** A frame that the log has not numbered yet. */
export type NewSessionFrame = {
  [Type in FrameType]: Omit<NewFrame, 'type' | 'payload'> & {
    readonly type: Type;
    readonly payload: FramePayloads[Type];
  };
}[FrameType];

/** Only sessions write frames, so the payload has the type of its name. */
export function toSessionFrame(frame: Frame): SessionFrame {
  return frame as unknown as SessionFrame;
}
