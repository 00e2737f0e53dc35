import type { AgentSnapshot, Networking, SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock, InputBlock, Message, ResultBlock, TextBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Frame, NewFrame } from '../store/frame.ts';

/**
 * Everything that can happen in a session. What the Managed Agents wire shows carries its names, so that a view of it
 * is little more than a choice of fields; the rest is ours: `run.`, `turn.`, `tool.`, `delta.`.
 *
 * `id` is the id of the event on every wire. Fields are added here, and never renamed or removed: logs outlive versions.
 */
export interface FramePayloads {
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
    /** How the program that runs the session names it. */
    program_key?: string;
    /** The call that made it, as the program names it: its lines may carry that for ever. */
    program_call?: string;
  };
  /** The program that runs the session is there, and names the conversation so: with that it can go on later. */
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
  'session.thread_status_running': ThreadStatus;
  'session.thread_status_idle': ThreadStatus & { stop_reason: StopReason; stop_details: StopDetails | null };
  'session.thread_status_rescheduled': ThreadStatus;
  'session.thread_status_terminated': ThreadStatus & { is_archived: boolean };

  /** Somebody's input, until the whole session rests again. */
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
    parent_stream_id: number | null;
    child_index: number | null;
    task: string;
  };
  'turn.ended': { ok: boolean; stop_reason: TurnEnd; error: string | null };
  /** The wait after a failed request is over. */
  'turn.retried': Record<string, never>;
  /** What it has to say no longer fits into the window: the next request asks for a summary. */
  'turn.overflowed': Record<string, never>;
  /** Somebody interrupted it. It ends when the tools that run have stopped. */
  'turn.stopping': { is_reported: boolean };
  /** A message that had waited is now part of what the agent is told. */
  'turn.took': { message_id: string };
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
    /** Who said so: the name of a key. */
    by?: string;
    /** What was allowed for good and said so in the name of that one; null: this one was decided by itself. */
    rule?: string | null;
    /** Of the input that was decided about, as `canonicalSha256` has it. */
    input_sha256?: string;
    /** With `allow`: the call runs with this input instead of the one that was decided about. */
    updated_input?: JsonObject;
    updated_input_sha256?: string;
    /** With `deny`: the turn that made the call ends as well. */
    interrupt?: true;
  };
  'user.custom_tool_result': {
    id: string;
    custom_tool_use_id: string;
    content: readonly ResultBlock[];
    is_error: boolean;
    /** Who gave it, and for which input: as with a confirmation. There are no rules for results. */
    by?: string;
    input_sha256?: string;
  };
  'user.tool_result': { id: string; tool_use_id: string; content: readonly ResultBlock[]; is_error: boolean };

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
  'agent.thread_message_sent': Letter & { to_session_thread_id: string; to_agent_name: string | null };
  'agent.thread_message_received': Letter & {
    from_session_thread_id: string;
    from_agent_name: string | null;
    /** False: it waits for the next turn. */
    is_processed: boolean;
    /** It is the answer to a call of `delegate`, which tells the model: it starts no turn. */
    answers_call: string | null;
    /** How the turn that it reports ended. */
    is_error: boolean;
  };
  /** From here on the agent is told this instead of everything before. */
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
    /** Of an answer: how many tokens its model can be told at a time. */
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
}

/** Where in the text of an answer, all its blocks in a row, a command stands that was not run, and why it was not. */
export interface NotRun {
  readonly from: number;
  readonly to: number;
  /** `quoted`: the thread has read it before. `cut_off`: the answer was. `too_many`: there were others before it. */
  readonly reason: 'quoted' | 'cut_off' | 'too_many';
}

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

/** What the log gives back is what sessions wrote; nobody else writes to it. */
export function toSessionFrame(frame: Frame): SessionFrame {
  return frame as unknown as SessionFrame;
}

export interface SessionCreated {
  readonly agent: SessionAgent;
  readonly environment: {
    readonly id: string;
    readonly type: 'cloud' | 'self_hosted';
    /** What its tools may reach: as it was when the session was made, whatever becomes of the environment. */
    readonly networking?: Networking;
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
  /** Who may be delegated to: the members of the roster, in its order. */
  readonly members: readonly AgentSnapshot[];
  /** It happened, or happens, elsewhere and is only told here: nobody can say anything to it. */
  readonly is_read_only?: boolean;
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

export type StopReason =
  | { readonly type: 'end_turn' }
  | { readonly type: 'requires_action'; readonly event_ids: readonly string[] }
  | { readonly type: 'retries_exhausted' }
  | { readonly type: 'budget_reached' }
  | { readonly type: 'refusal' };

export interface StopDetails {
  readonly type: 'refusal';
  readonly category: string | null;
  readonly explanation: string | null;
}

export type TurnEnd = 'end_turn' | 'cancelled' | 'error' | 'refusal' | 'limit';

/** `concurrency`: as many as may be are under way. `paused`: the endpoint has asked for a pause. */
export type QueueReason = 'concurrency' | 'paused';

export type RequestPurpose = 'turn' | 'compaction';

interface ThreadStatus {
  readonly id: string;
  readonly session_thread_id: string;
  readonly agent_name: string;
}

interface ToolUse {
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

interface ToolResultPayload {
  readonly id: string;
  readonly content: readonly ResultBlock[];
  readonly is_error: boolean;
  /** It was stopped, by somebody or by a crash: what it had done by then is not known. */
  readonly is_interrupted: boolean;
  readonly duration_ms: number;
  /** The ask that nobody has to answer any more. */
  readonly closes_ask: string | null;
  /** What closed it. */
  readonly closed_by?: AskClosedBy;
}

/** `not_requested`: the program never asked, because it refused the call on its own or the call was stopped before. */
export type AskClosedBy = 'cancel' | 'archive' | 'limit' | 'error' | 'not_requested';

interface Letter {
  readonly id: string;
  readonly content: readonly InputBlock[];
}

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
    | 'compaction_limit_reached_error';
  readonly message: string;
  readonly mcp_server_name?: string;
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
