import type { ToolResultParams, Rubric } from './client-event.ts';
import type { MessageBlock, RedactedBlock, ResultBlock, TextBlock } from './content.ts';
import type { PageParams } from './page.ts';
import type { SessionAgent } from './session-agent.ts';
import type { SessionError } from './session-error.ts';
import type { Budget, ModelUsage, Usage } from './usage.ts';

// --- client events in lists and streams ---

/** The response to sent events: each event, in order. */
export interface SentEvents {
  readonly data: readonly ClientEvent[];
}

/** An event that a client sent, as the server shows it. */
export type ClientEvent =
  | UserMessageEvent
  | UserInterruptEvent
  | UserToolConfirmationEvent
  | UserCustomToolResultEvent
  | UserToolResultEvent
  | DefineOutcomeEvent
  | SystemMessageEvent;

/** A message of a user. */
export interface UserMessageEvent extends Queued {
  readonly type: 'user.message';
  readonly content: readonly MessageBlock[];
}
/** A thread, or all threads, were stopped. */
export interface UserInterruptEvent extends Queued, Routed {
  readonly type: 'user.interrupt';
}
/** A decision about a tool call. */
export interface UserToolConfirmationEvent extends Queued, Routed {
  readonly type: 'user.tool_confirmation';
  readonly tool_use_id: string;
  readonly result: 'allow' | 'deny';
  readonly deny_message?: string | null;
}
/** The result of a custom tool. */
export interface UserCustomToolResultEvent extends Queued, Routed, ToolResultParams {
  readonly type: 'user.custom_tool_result';
  readonly custom_tool_use_id: string;
}
/** The result of a built-in tool that a worker ran. */
export interface UserToolResultEvent extends Queued, Routed, ToolResultParams {
  readonly type: 'user.tool_result';
  readonly tool_use_id: string;
}
/** An outcome was defined. */
export interface DefineOutcomeEvent extends Processed {
  readonly type: 'user.define_outcome';
  readonly outcome_id: string;
  readonly description: string;
  readonly rubric: Rubric;
  readonly max_iterations: number | null;
}
/** A system message in the middle of a session. */
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
  /** Null until the agent has read it. The stream shows such an event twice, with the same id. */
  readonly processed_at: string | null;
}
/** The thread of the event; present if the primary thread shows an event of another thread. */
interface Routed {
  readonly session_thread_id?: string;
}

// --- events that the server emits ---

/** Events that the server emits. */
export type ServerEvent = SessionLevelEvent | ThreadLevelEvent | AgentEvent | SpanEvent;

/** Events about the session as a whole. */
export type SessionLevelEvent =
  | SessionStatusEvent
  | SessionStatusIdleEvent
  | SessionUpdatedEvent
  | SessionUsageEvent
  | SessionErrorEvent;

/** The status of the session changed. */
export interface SessionStatusEvent extends Processed {
  readonly type: 'session.status_running' | 'session.status_rescheduled' | 'session.status_terminated';
}
/** Every thread is idle. */
export interface SessionStatusIdleEvent extends Processed, Stopped {
  readonly type: 'session.status_idle';
}
interface Stopped {
  readonly stop_reason: StopReason;
  /** Details of a refusal; null for every other reason. */
  readonly stop_details: StopDetails | null;
}
/** Why a session or thread is idle. */
export type StopReason =
  | { readonly type: 'end_turn' }
  /** `event_ids`: the tool calls that wait for the client. */
  | { readonly type: 'requires_action'; readonly event_ids: readonly string[] }
  | { readonly type: 'retries_exhausted' }
  | { readonly type: 'budget_reached' }
  | { readonly type: 'refusal' };
/** Why a model refused. */
export interface StopDetails {
  readonly type: 'refusal';
  readonly category: RefusalCategory | null;
  readonly explanation: string | null;
}
/** The category of a refusal. */
export type RefusalCategory = 'cyber' | 'bio' | 'frontier_llm' | 'reasoning_extraction' | 'general_harms';

/** The session was updated. Has only the changed fields, each with its whole new value. */
export interface SessionUpdatedEvent extends Processed {
  readonly type: 'session.updated';
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly agent?: SessionAgent;
  /** The new budget; null if it was removed. */
  readonly budget?: Budget | null;
}
/** Usage so far. Emitted right before every `session.status_idle`. */
export interface SessionUsageEvent extends Processed {
  readonly type: 'session.usage';
  readonly usage: Usage;
  readonly budget: Budget | null;
}
/** Something failed; `error` says whether it is retried. */
export interface SessionErrorEvent extends Processed {
  readonly type: 'session.error';
  readonly error: SessionError;
}

/** Events about one thread. */
export type ThreadLevelEvent = ThreadCreatedEvent | ThreadStatusEvent | ThreadStatusIdleEvent;

interface OfThread extends Processed {
  readonly session_thread_id: string;
  readonly agent_name: string;
}
/** A thread was created. */
export interface ThreadCreatedEvent extends OfThread {
  readonly type: 'session.thread_created';
  readonly workflow_run_id: null;
}
/** The status of a thread changed. */
export interface ThreadStatusEvent extends OfThread {
  readonly type:
    | 'session.thread_status_running'
    | 'session.thread_status_rescheduled'
    | 'session.thread_status_terminated';
}
/** A thread is idle. */
export interface ThreadStatusIdleEvent extends OfThread, Stopped {
  readonly type: 'session.thread_status_idle';
}

/** Events of an agent's work. */
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

/** Text of the agent. */
export interface AgentMessageEvent extends Processed {
  readonly type: 'agent.message';
  readonly content: readonly (TextBlock | RedactedBlock)[];
}
/** The agent is thinking. The content is not included. */
export interface AgentThinkingEvent extends Processed {
  readonly type: 'agent.thinking';
}
/** A tool call. */
export interface AgentToolUseEvent extends ToolUse, Evaluated {
  readonly type: 'agent.tool_use';
}
/** The result of a tool call. */
export interface AgentToolResultEvent extends ToolResult {
  readonly type: 'agent.tool_result';
  readonly tool_use_id: string;
}
/** A call of an MCP server's tool. */
export interface AgentMcpToolUseEvent extends ToolUse, Evaluated {
  readonly type: 'agent.mcp_tool_use';
  readonly mcp_server_name: string;
}
/** The result of an MCP server's tool. */
export interface AgentMcpToolResultEvent extends ToolResult {
  readonly type: 'agent.mcp_tool_result';
  readonly mcp_tool_use_id: string;
}
/** A call of a custom tool: the client provides its result. */
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
/** The permission of a tool call. */
interface Evaluated {
  readonly evaluated_permission: EvaluatedPermission;
  /** The policy that decided. Absent if the call was rejected before any policy was evaluated. */
  readonly evaluation?: ToolEvaluation;
}
/** Whether a tool call may run. */
export type EvaluatedPermission = 'allow' | 'ask' | 'deny';
/** The policy that decided about a tool call. */
export type ToolEvaluation =
  | { readonly type: 'always_allow' }
  | { readonly type: 'always_ask' }
  | {
      readonly type: 'auto';
      readonly evaluated_permission:
        | { readonly type: 'allow' }
        | { readonly type: 'ask' | 'deny'; readonly reason_code: string };
    };

/** A message to another thread, on the sending thread. The name is absent when the primary thread receives. */
export interface AgentThreadMessageSentEvent extends Processed {
  readonly type: 'agent.thread_message_sent';
  readonly to_session_thread_id: string;
  readonly to_agent_name?: string;
  readonly content: readonly MessageBlock[];
}
/** A message from another thread, on the receiving thread. The name is absent when the primary thread sends. */
export interface AgentThreadMessageReceivedEvent extends Processed {
  readonly type: 'agent.thread_message_received';
  readonly from_session_thread_id: string;
  readonly from_agent_name?: string;
  readonly content: readonly MessageBlock[];
}
/** The thread's history was summarized. */
export interface AgentThreadContextCompactedEvent extends Processed {
  readonly type: 'agent.thread_context_compacted';
}

/** Events of model requests. */
export type SpanEvent = ModelRequestStartEvent | ModelRequestEndEvent;

/** A model request starts. */
export interface ModelRequestStartEvent extends Processed {
  readonly type: 'span.model_request_start';
}
/** A model request ended. */
export interface ModelRequestEndEvent extends Processed {
  readonly type: 'span.model_request_end';
  readonly model_request_start_id: string;
  readonly is_error: boolean;
  readonly model_usage: ModelUsage;
}

// --- lists and streams ---

/** The events of a list. */
export type SessionEvent = ClientEvent | ServerEvent;

/** The events of a stream: those of a list, previews, and the deletion of the session. */
export type StreamEvent = SessionEvent | PreviewEvent | SessionDeletedEvent;

/** The session was deleted; the stream ends. */
export interface SessionDeletedEvent extends Processed {
  readonly type: 'session.deleted';
}

/** Previews of an unfinished event. Only on connections that ask for them with `event_deltas`, and never in a list. */
export type PreviewEvent = EventStart | EventDelta;

/** An event begins to stream. */
export interface EventStart {
  readonly type: 'event_start';
  /** The id that the finished event will have. */
  readonly event: { readonly [Type in DeltaType]: { readonly type: Type; readonly id: string } }[DeltaType];
}
/** The next piece of block `index`. The joined pieces of a block are its beginning. Thinking has none. */
export interface EventDelta {
  readonly type: 'event_delta';
  readonly event_id: string;
  readonly delta: { readonly type: 'content_delta'; readonly index: number; readonly content: TextBlock };
}

/** Event types that can be previewed. */
export const deltaTypes = ['agent.message', 'agent.thinking'] as const;
/** An event type that can be previewed. */
export type DeltaType = (typeof deltaTypes)[number];

/** `GET /v1/sessions/{id}/events/stream` */
export interface EventStreamParams {
  readonly event_deltas?: readonly DeltaType[];
}

/** `GET /v1/sessions/{id}/events`. The times are compared with `processed_at`. */
export interface EventListParams extends PageParams {
  /** The order; `asc` by default. */
  readonly order?: 'asc' | 'desc';
  readonly types?: readonly EventType[];
  readonly 'created_at[gt]'?: string;
  readonly 'created_at[gte]'?: string;
  readonly 'created_at[lt]'?: string;
  readonly 'created_at[lte]'?: string;
}

/** Event types that a list can be filtered by. Not all of them are emitted; filtering by one is still valid. */
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
/** The type of an event. */
export type EventType = (typeof eventTypes)[number];
