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
 * Everything that can happen in a session. What the Managed Agents wire shows carries its names, so that a view of it
 * is little more than a choice of fields; the rest is ours: `run.`, `turn.`, `tool.`, `delta.`.
 *
 * `id` is the id of the event on every wire. Fields are added here, and never renamed or removed: logs outlive versions.
 */
export interface FramePayloads extends WorkspacePayloads {
  /** Always the first frame. Together with the ones behind it, it is the whole session. */
  'session.created': SessionCreated;
  /** Only what changed. */
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
    /** What a sub-agent of one of the program's own kinds was started for: many of them have the same name. */
    title?: string;
    /** An entry of the session's roster; null is the session's own agent, without its roster. */
    member: number | null;
    depth: number;
    /** The call of `delegate` that waits for its first turn, and which of its tasks this is. */
    joined_by: { readonly tool_use_id: string; readonly index: number } | null;
    /** It works in a worktree of its own. */
    isolation?: 'worktree';
    /** Of a sub-agent of a program: how the program names it. */
    program_key?: string;
    /** The call that made it, as the program names it: later lines may refer to it. */
    program_call?: string;
  };
  /**
   * A program is there, and names the conversation so: with that it can go on later. This and other frames of a program are
   * logged on the thread of its main agent, those of the session's own agent on the session.
   */
  'program.opened': { conversation: string; version: string | null };
  /** The last message of a turn of the main agent, as the program names it: with that the conversation can be forked here. */
  'program.message': { message: string };
  /** The session was forked: its program goes on with a copy of this conversation, up to this message; null: with none. */
  'program.forked':
    | { readonly conversation: string; readonly message: string }
    | { readonly conversation: null; readonly message: null };
  /** What the program has loaded beside the agent's definition, because the session's metadata says so. */
  'program.settings': {
    settings: 'project' | 'user';
    instructions: readonly string[];
    hooks: readonly string[];
    agents: readonly string[];
    skills: readonly string[];
    rules: readonly string[];
  };
  /**
   * The program has something under way that belongs to no turn: a background command, or a scheduled wake-up. As long as
   * it is under way the program is kept, because its process does it.
   */
  'program.work_started': {
    work_id: string;
    kind: ProgramWorkKind;
    description: string;
    /** Of a wake-up: when it no longer keeps the program, whether it was seen to fire or not. */
    until: number | null;
  };
  'program.work_ended': {
    work_id: string;
    /** `lost`: it ended with the program that did it, for the reason given. */
    outcome: ProgramWorkOutcome;
    reason: string | null;
  };
  /** The caller had the program set files back to what they were before a message. */
  'program.files_rewound': {
    message_id: string;
    /** The name of the key that did it. */
    by: string;
    /** As the program names them. */
    files: readonly string[];
    lines_added: number;
    lines_removed: number;
  };
  /** A connection of programs of the session to another host: it was opened, is closed, or was refused. */
  'egress.connection': EgressEntry;
  'session.thread_status_running': ThreadStatus;
  'session.thread_status_idle': ThreadStatus & { stop_reason: StopReason; stop_details: StopDetails | null };
  'session.thread_status_rescheduled': ThreadStatus;
  'session.thread_status_terminated': ThreadStatus & { is_archived: boolean };

  /** An input of a user, until the whole session is idle again. */
  'run.started': { input_ids: readonly string[]; agent_name: string; message: string };
  'run.ended': {
    ok: boolean;
    stop_reason: TurnEnd;
    error: string | null;
    content: string;
    /** Why it never began, for programs. */
    code?: string;
  };
  'turn.started': {
    agent_name: string;
    /** That of the thread, if it has one. */
    title?: string;
    model: string;
    /** Whether a program runs the thread, where that differs from the session's own agent. */
    is_program?: boolean;
    parent_stream_id: number | null;
    child_index: number | null;
    task: string;
  };
  'turn.ended': { ok: boolean; stop_reason: TurnEnd; error: string | null };
  /** The wait after a failed request is over. */
  'turn.retried': Record<string, never>;
  /** What it has to say no longer fits into the window: the next request asks for a summary. */
  'turn.overflowed': Record<string, never>;
  /** The turn was interrupted. It ends when the running tools have stopped. */
  'turn.stopping': { is_reported: boolean };
  /** A queued message is now part of the agent's history. */
  'turn.took': {
    message_id: string;
    /** What a program is sent. */
    content?: readonly InputBlock[];
  };
  /** What had waited is dropped, because the turn before it failed for good. */
  'turn.flushed': { message_ids: readonly string[] };

  /** Twice with the same id if it had to wait: first with `is_processed` false. */
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
    /** The rule that decided in the name of that key; null: a single decision. */
    rule?: string | null;
    /** The stored rule by which the server itself decided; left out if a client sent the decision. */
    rule_id?: string;
    /** Of the input that was decided about, as `canonicalSha256` has it. */
    input_sha256?: string;
    /** With `allow`: the call runs with this input instead of the one that was decided about. */
    updated_input?: JsonObject;
    updated_input_sha256?: string;
    /** With `deny`: the turn that made the call ends as well. */
    interrupt?: true;
    not_applied?: NotApplied;
  };
  'user.custom_tool_result': {
    id: string;
    custom_tool_use_id: string;
    content: readonly ResultBlock[];
    is_error: boolean;
    /** The name of the key that sent it, and the input, as for a confirmation. Results have no rules. */
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
  /** `block` is what the model has to be given back. */
  'agent.thinking': { id: string; block: AssistantBlock };
  /** A block that only the model understands. */
  'agent.block': { block: AssistantBlock };
  'agent.tool_use': ToolUse & {
    kind: 'builtin' | 'session';
    runs_at: 'server' | 'worker';
    /** It was written as a command in the text, by a model that is given its results as text too. */
    is_command?: true;
  };
  /** `called_as` is the name that the model knows it by; `name` is the server's. */
  'agent.mcp_tool_use': ToolUse & { mcp_server_name: string; called_as: string };
  'agent.custom_tool_use': { id: string; call_id: string; name: string; input: Json; approval?: 'on_request' };
  /**
   * The program waits for a decision about this call. Only calls with `approval: 'on_request'` need it; for all others the
   * call itself is the request.
   */
  'approval.requested': {
    tool_use_id: string;
    kind: 'tool' | 'question' | 'plan';
    /** In the words of the program. */
    reason: string | null;
    /** What is decided about, where it differs from the input of the call. */
    input?: Json;
  };
  /** A decision, or a result from outside, was handed to the program that waits for it. */
  'answer.delivered': { answer_id: string; tool_use_id: string };
  /** It was logged as applied, and did not reach the program: the call or the program ended first. */
  'answer.not_applied': { answer_id: string; tool_use_id: string; reason: NotApplied };
  /** The intent: it is durable before anything is done, so that nothing is done twice unseen. */
  'tool.started': {
    tool_use_id: string;
    /** Tasks of `delegate` that found no agent, and why. */
    refusals?: readonly { readonly index: number; readonly reason: string }[];
  };
  'agent.tool_result': ToolResultPayload & {
    tool_use_id: string;
    /** The file as the call has left it, where the input of the call does not have its content. */
    file?: { readonly path: string; readonly content: string };
  };
  'agent.mcp_tool_result': ToolResultPayload & { mcp_tool_use_id: string };
  'agent.thread_message_sent': ThreadMessage & { to_session_thread_id: string; to_agent_name: string | null };
  'agent.thread_message_received': ThreadMessage & {
    from_session_thread_id: string;
    from_agent_name: string | null;
    /** False: it waits for the next turn. */
    is_processed: boolean;
    /** The call of `delegate` that this answers; the tool result carries the text to the model, so no turn starts. */
    answers_call: string | null;
    /** How the turn that it reports ended. */
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
    /** Of an answer: the context window of its model, in tokens. */
    context_window?: number;
    /** Of an answer: commands in its text that look complete and were not run. */
    not_run?: readonly NotRun[];
  };
  /** The request waits until its endpoint can take one more. It changes nothing, as all deltas. */
  'delta.queued': { reason: QueueReason; ahead: number; until: number | null };
  /** It is made now. */
  'delta.admitted': Record<string, never>;
  /** A block began to grow. The event with this id comes when the request ends well. */
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

/** The same before the log has given it its place. */
export type NewSessionFrame = {
  [Type in FrameType]: Omit<NewFrame, 'type' | 'payload'> & {
    readonly type: Type;
    readonly payload: FramePayloads[Type];
  };
}[FrameType];

/** Only sessions write frames, so the payload has the type that its name says. */
export function toSessionFrame(frame: Frame): SessionFrame {
  return frame as unknown as SessionFrame;
}
