import type { MessageBlock, RedactedBlock, ResultBlock, TextBlock } from './content.ts';
import type { PageParams } from './page.ts';
import type { SessionAgent } from './session.ts';
import type { SessionError } from './session-error.ts';
import type { Budget, ModelUsage, Usage } from './usage.ts';

// --- what a client sends ---

/** `POST /v1/sessions/{id}/events`. One bad event refuses all of them. */
export interface EventSendParams {
  readonly events: readonly ClientEventParams[];
}

export type ClientEventParams =
  | UserMessageEventParams
  | UserInterruptEventParams
  | UserToolConfirmationEventParams
  | UserCustomToolResultEventParams
  | UserToolResultEventParams
  | DefineOutcomeEventParams
  | SystemMessageEventParams;

/** Always for the primary thread. */
export interface UserMessageEventParams {
  readonly type: 'user.message';
  readonly content: readonly MessageBlock[];
}

/** Without a thread all of them are stopped. */
export interface UserInterruptEventParams extends ThreadParams {
  readonly type: 'user.interrupt';
}

/** Of a call whose policy asked for it. */
export interface UserToolConfirmationEventParams extends ThreadParams {
  readonly type: 'user.tool_confirmation';
  readonly tool_use_id: string;
  readonly result: 'allow' | 'deny';
  /** Only with `deny`. */
  readonly deny_message?: string | null;
  /** Ours: what was allowed for good and gives this answer. Left out or null: somebody decided this one. */
  readonly rule?: string | null;
  /** Ours, only with `allow`: the call runs with this input instead of its own. */
  readonly updated_input?: Readonly<Record<string, unknown>> | null;
  /** Ours, only with `deny`: the turn that made the call ends as well. */
  readonly interrupt?: boolean | null;
}

export interface UserCustomToolResultEventParams extends ThreadParams, ResultParams {
  readonly type: 'user.custom_tool_result';
  readonly custom_tool_use_id: string;
}

/** Of a built-in tool that a worker ran. Only in self-hosted environments. */
export interface UserToolResultEventParams extends ThreadParams, ResultParams {
  readonly type: 'user.tool_result';
  readonly tool_use_id: string;
}

export interface DefineOutcomeEventParams {
  readonly type: 'user.define_outcome';
  readonly description: string;
  readonly rubric: Rubric;
  readonly max_iterations?: number | null;
}
export type Rubric =
  | { readonly type: 'text'; readonly content: string }
  | { readonly type: 'file'; readonly file_id: string };

/** For the system's role in the middle of a conversation. The last one of its request. */
export interface SystemMessageEventParams {
  readonly type: 'system.message';
  readonly content: readonly TextBlock[];
}

/** Older clients name the thread of a call, newer ones do not; the empty text is the same as none. */
interface ThreadParams {
  readonly session_thread_id?: string | null;
}
interface ResultParams {
  readonly content?: readonly ResultBlock[];
  readonly is_error?: boolean | null;
}

// --- the same as the server shows it ---

/** The answer to a send: each event in its order. */
export interface SentEvents {
  readonly data: readonly ClientEvent[];
}

export type ClientEvent =
  | UserMessageEvent
  | UserInterruptEvent
  | UserToolConfirmationEvent
  | UserCustomToolResultEvent
  | UserToolResultEvent
  | DefineOutcomeEvent
  | SystemMessageEvent;

export interface UserMessageEvent extends Queued {
  readonly type: 'user.message';
  readonly content: readonly MessageBlock[];
}
export interface UserInterruptEvent extends Queued, Routed {
  readonly type: 'user.interrupt';
}
export interface UserToolConfirmationEvent extends Queued, Routed {
  readonly type: 'user.tool_confirmation';
  readonly tool_use_id: string;
  readonly result: 'allow' | 'deny';
  readonly deny_message?: string | null;
}
export interface UserCustomToolResultEvent extends Queued, Routed, ResultParams {
  readonly type: 'user.custom_tool_result';
  readonly custom_tool_use_id: string;
}
export interface UserToolResultEvent extends Queued, Routed, ResultParams {
  readonly type: 'user.tool_result';
  readonly tool_use_id: string;
}
export interface DefineOutcomeEvent extends Processed {
  readonly type: 'user.define_outcome';
  readonly outcome_id: string;
  readonly description: string;
  readonly rubric: Rubric;
  readonly max_iterations: number | null;
}
export interface SystemMessageEvent extends Queued {
  readonly type: 'system.message';
  readonly content: readonly TextBlock[];
}

interface Processed {
  readonly id: string;
  readonly processed_at: string;
}
interface Queued {
  readonly id: string;
  /** Null until the agent has taken it up. The stream shows such an event twice, with the same id. */
  readonly processed_at: string | null;
}
/** Present where an event stands on the primary thread for another one. */
interface Routed {
  readonly session_thread_id?: string;
}

// --- what only the server says ---

export type ServerEvent = SessionLevelEvent | ThreadLevelEvent | AgentEvent | SpanEvent;

export type SessionLevelEvent =
  | SessionStatusEvent
  | SessionStatusIdleEvent
  | SessionUpdatedEvent
  | SessionUsageEvent
  | SessionErrorEvent;

export interface SessionStatusEvent extends Processed {
  readonly type: 'session.status_running' | 'session.status_rescheduled' | 'session.status_terminated';
}
export interface SessionStatusIdleEvent extends Processed, Stopped {
  readonly type: 'session.status_idle';
}
interface Stopped {
  readonly stop_reason: StopReason;
  /** Null except for a refusal. */
  readonly stop_details: StopDetails | null;
}
export type StopReason =
  | { readonly type: 'end_turn' }
  /** The calls that wait for the client, by the ids of their events. */
  | { readonly type: 'requires_action'; readonly event_ids: readonly string[] }
  | { readonly type: 'retries_exhausted' }
  | { readonly type: 'budget_reached' }
  | { readonly type: 'refusal' };
export interface StopDetails {
  readonly type: 'refusal';
  readonly category: RefusalCategory | null;
  readonly explanation: string | null;
}
export type RefusalCategory = 'cyber' | 'bio' | 'frontier_llm' | 'reasoning_extraction' | 'general_harms';

/** Carries only what has changed, and that as a whole. */
export interface SessionUpdatedEvent extends Processed {
  readonly type: 'session.updated';
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly agent?: SessionAgent;
  /** Null: it was removed. */
  readonly budget?: Budget | null;
}
/** Comes right before every `session.status_idle`. */
export interface SessionUsageEvent extends Processed {
  readonly type: 'session.usage';
  readonly usage: Usage;
  readonly budget: Budget | null;
}
export interface SessionErrorEvent extends Processed {
  readonly type: 'session.error';
  readonly error: SessionError;
}

export type ThreadLevelEvent = ThreadCreatedEvent | ThreadStatusEvent | ThreadStatusIdleEvent;

interface OfThread extends Processed {
  readonly session_thread_id: string;
  readonly agent_name: string;
}
export interface ThreadCreatedEvent extends OfThread {
  readonly type: 'session.thread_created';
  readonly workflow_run_id: null;
}
export interface ThreadStatusEvent extends OfThread {
  readonly type:
    | 'session.thread_status_running'
    | 'session.thread_status_rescheduled'
    | 'session.thread_status_terminated';
}
export interface ThreadStatusIdleEvent extends OfThread, Stopped {
  readonly type: 'session.thread_status_idle';
}

export type AgentEvent =
  | AgentMessageEvent
  | AgentThinkingEvent
  | AgentToolUseEvent
  | AgentToolResultEvent
  | AgentMcpToolUseEvent
  | AgentMcpToolResultEvent
  | AgentCustomToolUseEvent
  | AgentThreadMessageSentEvent
  | AgentThreadMessageReceivedEvent
  | AgentThreadContextCompactedEvent;

export interface AgentMessageEvent extends Processed {
  readonly type: 'agent.message';
  readonly content: readonly (TextBlock | RedactedBlock)[];
}
/** That it thinks, not what. */
export interface AgentThinkingEvent extends Processed {
  readonly type: 'agent.thinking';
}
export interface AgentToolUseEvent extends ToolUse, Evaluated {
  readonly type: 'agent.tool_use';
}
export interface AgentToolResultEvent extends ToolResult {
  readonly type: 'agent.tool_result';
  readonly tool_use_id: string;
}
export interface AgentMcpToolUseEvent extends ToolUse, Evaluated {
  readonly type: 'agent.mcp_tool_use';
  readonly mcp_server_name: string;
}
export interface AgentMcpToolResultEvent extends ToolResult {
  readonly type: 'agent.mcp_tool_result';
  readonly mcp_tool_use_id: string;
}
export interface AgentCustomToolUseEvent extends ToolUse {
  readonly type: 'agent.custom_tool_use';
}
interface ToolUse extends Processed, Routed {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}
interface ToolResult extends Processed {
  readonly content: readonly ResultBlock[];
  readonly is_error: boolean;
}
/** What became of the question whether the call may be made. */
interface Evaluated {
  readonly evaluated_permission: EvaluatedPermission;
  /** By which policy. Absent where the call was refused before any was looked at. */
  readonly evaluation?: ToolEvaluation;
}
export type EvaluatedPermission = 'allow' | 'ask' | 'deny';
export type ToolEvaluation =
  | { readonly type: 'always_allow' }
  | { readonly type: 'always_ask' }
  | {
      readonly type: 'auto';
      readonly evaluated_permission:
        | { readonly type: 'allow' }
        | { readonly type: 'ask' | 'deny'; readonly reason_code: string };
    };

/** On the thread that sends. The name is absent when the primary thread receives. */
export interface AgentThreadMessageSentEvent extends Processed {
  readonly type: 'agent.thread_message_sent';
  readonly to_session_thread_id: string;
  readonly to_agent_name?: string;
  readonly content: readonly MessageBlock[];
}
/** On the thread that receives. The name is absent when the primary thread sends. */
export interface AgentThreadMessageReceivedEvent extends Processed {
  readonly type: 'agent.thread_message_received';
  readonly from_session_thread_id: string;
  readonly from_agent_name?: string;
  readonly content: readonly MessageBlock[];
}
export interface AgentThreadContextCompactedEvent extends Processed {
  readonly type: 'agent.thread_context_compacted';
}

export type SpanEvent = ModelRequestStartEvent | ModelRequestEndEvent;

export interface ModelRequestStartEvent extends Processed {
  readonly type: 'span.model_request_start';
}
export interface ModelRequestEndEvent extends Processed {
  readonly type: 'span.model_request_end';
  readonly model_request_start_id: string;
  readonly is_error: boolean;
  readonly model_usage: ModelUsage;
}

// --- lists and streams ---

/** What is listed. */
export type SessionEvent = ClientEvent | ServerEvent;

/** What a stream says: what is listed, what only lasts for a moment, and the end of all. */
export type StreamEvent = SessionEvent | PreviewEvent | SessionDeletedEvent;

export interface SessionDeletedEvent extends Processed {
  readonly type: 'session.deleted';
}

/** Of an event that is still being made. Only for connections that ask for it with `event_deltas`, and never listed. */
export type PreviewEvent = EventStart | EventDelta;

export interface EventStart {
  readonly type: 'event_start';
  /** The id is the one that the event itself will have. */
  readonly event: { readonly [Type in DeltaType]: { readonly type: Type; readonly id: string } }[DeltaType];
}
/** The next piece of block `index`. All pieces of a block, joined, are a beginning of it. Thoughts have none. */
export interface EventDelta {
  readonly type: 'event_delta';
  readonly event_id: string;
  readonly delta: { readonly type: 'content_delta'; readonly index: number; readonly content: TextBlock };
}

/** What previews may be asked for. */
export const deltaTypes = ['agent.message', 'agent.thinking'] as const;
export type DeltaType = (typeof deltaTypes)[number];

/** `GET /v1/sessions/{id}/events/stream` */
export interface EventStreamParams {
  readonly event_deltas?: readonly DeltaType[];
}

/** `GET /v1/sessions/{id}/events`. The times are compared with `processed_at`. */
export interface EventListParams extends PageParams {
  /** `asc` if it is not given. */
  readonly order?: 'asc' | 'desc';
  readonly types?: readonly EventType[];
  readonly 'created_at[gt]'?: string;
  readonly 'created_at[gte]'?: string;
  readonly 'created_at[lt]'?: string;
  readonly 'created_at[lte]'?: string;
}

/** What a list may be asked for. We do not make all of them, but asking is no mistake. */
export const eventTypes = [
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'user.tool_result',
  'user.define_outcome',
  'system.message',
  'session.status_running',
  'session.status_idle',
  'session.status_rescheduled',
  'session.status_terminated',
  'session.updated',
  'session.usage',
  'session.error',
  'session.thread_created',
  'session.thread_status_running',
  'session.thread_status_idle',
  'session.thread_status_rescheduled',
  'session.thread_status_terminated',
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.tool_result',
  'agent.mcp_tool_use',
  'agent.mcp_tool_result',
  'agent.custom_tool_use',
  'agent.thread_message_sent',
  'agent.thread_message_received',
  'agent.thread_context_compacted',
  'span.model_request_start',
  'span.model_request_end',
  'span.outcome_evaluation_start',
  'span.outcome_evaluation_ongoing',
  'span.outcome_evaluation_end',
  'workflow_run.created',
  'workflow_run.status_running',
  'workflow_run.status_idle',
  'workflow_run.status_ended',
  'workflow_run.error',
  'workflow_run.phase_started',
  'workflow_run.phase_ended',
] as const;
export type EventType = (typeof eventTypes)[number];
