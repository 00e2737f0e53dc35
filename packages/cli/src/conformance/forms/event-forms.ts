import type {
  ClientEvent,
  DocumentBlock,
  EventDelta,
  EventStart,
  ImageBlock,
  MessageBlock,
  ModelUsage,
  RedactedBlock,
  ResultBlock,
  SearchResultBlock,
  SessionDeletedEvent,
  SessionError,
  SessionEvent,
  StopDetails,
  StopReason,
  StreamEvent,
  TextBlock,
  ToolEvaluation,
} from '@fleetloom/protocol/managed-agents';
import type { EventOf } from './event-of.ts';
import {
  anyObject,
  bool,
  byType,
  type Form,
  id,
  list,
  literal,
  moment,
  nothing,
  nullable,
  object,
  optional,
  record,
  text,
  whole,
} from './form.ts';
import { budgetForm, sessionAgentForm, usageForm } from './record-forms.ts';

// Every event, each with the fields that its type has.

const textBlock = object<TextBlock>({ type: literal('text'), text });
const base64 = object({ type: literal('base64'), data: text, media_type: text });
const url = object({ type: literal('url'), url: text });
const file = object({ type: literal('file'), file_id: text });
const plain = object({ type: literal('text'), data: text, media_type: literal('text/plain') });
const image = object<ImageBlock>({
  type: literal('image'),
  source: byType<ImageBlock['source']>({ base64, url, file }),
});
const document = object<DocumentBlock>({
  type: literal('document'),
  source: byType<DocumentBlock['source']>({ base64, url, file, text: plain }),
  title: optional(nullable(text)),
  context: optional(nullable(text)),
});
const searchResult = object<SearchResultBlock>({
  type: literal('search_result'),
  source: text,
  title: text,
  content: list(textBlock),
  citations: object({ enabled: bool }),
});
const messageBlock = byType<MessageBlock>({ text: textBlock, image, document });
const resultBlock = byType<ResultBlock>({ text: textBlock, image, document, search_result: searchResult });
const saidBlock = byType<TextBlock | RedactedBlock>({
  text: textBlock,
  redacted: object({ type: literal('redacted') }),
});

const eventId = id('sevt');
const threadId = id('sthr');
const done = { id: eventId, processed_at: moment } as const;
const queued = { id: eventId, processed_at: nullable(moment) } as const;
const routed = { session_thread_id: optional(threadId) } as const;

const stopReason = byType<StopReason>({
  end_turn: object({ type: literal('end_turn') }),
  requires_action: object({ type: literal('requires_action'), event_ids: list(eventId) }),
  retries_exhausted: object({ type: literal('retries_exhausted') }),
  budget_reached: object({ type: literal('budget_reached') }),
  refusal: object({ type: literal('refusal') }),
});
const stopDetails = object<StopDetails>({
  type: literal('refusal'),
  category: nullable(literal('cyber', 'bio', 'frontier_llm', 'reasoning_extraction', 'general_harms')),
  explanation: nullable(text),
});
const stopped = { stop_reason: stopReason, stop_details: nullable(stopDetails) } as const;
const ofThread = { ...done, session_thread_id: threadId, agent_name: text } as const;

const evaluation = byType<ToolEvaluation>({
  always_allow: object({ type: literal('always_allow') }),
  always_ask: object({ type: literal('always_ask') }),
  // Fleetloom never emits evaluations, so their content is not checked closely.
  auto: object<Extract<ToolEvaluation, { type: 'auto' }>>({
    type: literal('auto'),
    evaluated_permission: anyObject as never,
  }),
});
const evaluated = {
  evaluated_permission: literal('allow', 'ask', 'deny'),
  evaluation: optional(evaluation),
} as const;
const call = { ...done, ...routed, name: text, input: anyObject } as const;
const result = { ...done, content: list(resultBlock), is_error: bool } as const;
const given = { content: optional(list(resultBlock)), is_error: optional(nullable(bool)) } as const;

const retryStatus = object({ type: literal('retrying', 'exhausted', 'terminal') }) as Form<
  SessionError['retry_status']
>;
const sessionError: Form<SessionError> = (value, path) => {
  const type = (value as { type?: string } | null)?.type ?? '';
  const common = { type: literal(type), message: text, retry_status: retryStatus };
  if (type.startsWith('mcp_')) return object<object>({ ...common, mcp_server_name: text })(value, path);
  if (type.startsWith('repository_')) return object<object>({ ...common, repository_url: nullable(text) })(value, path);
  if (type === 'credential_host_unreachable_error') {
    return object<object>({ ...common, credential_id: text, vault_id: text })(value, path);
  }
  return object<object>({ ...common, type: plainErrors })(value, path);
};
const plainErrors = literal(
  'unknown_error',
  'model_overloaded_error',
  'model_rate_limited_error',
  'model_request_failed_error',
  'billing_error',
  'tool_use_limit_reached_error',
  'compaction_limit_reached_error',
);

const clientForms = {
  'user.message': object<EventOf<'user.message'>>({
    type: literal('user.message'),
    ...queued,
    content: list(messageBlock),
  }),
  'user.interrupt': object<EventOf<'user.interrupt'>>({ type: literal('user.interrupt'), ...queued, ...routed }),
  'user.tool_confirmation': object<EventOf<'user.tool_confirmation'>>({
    type: literal('user.tool_confirmation'),
    ...queued,
    ...routed,
    tool_use_id: eventId,
    result: literal('allow', 'deny'),
    deny_message: optional(nullable(text)),
  }),
  'user.custom_tool_result': object<EventOf<'user.custom_tool_result'>>({
    type: literal('user.custom_tool_result'),
    ...queued,
    ...routed,
    custom_tool_use_id: eventId,
    ...given,
  }),
  'user.tool_result': object<EventOf<'user.tool_result'>>({
    type: literal('user.tool_result'),
    ...queued,
    ...routed,
    tool_use_id: eventId,
    ...given,
  }),
  'user.define_outcome': object<EventOf<'user.define_outcome'>>({
    type: literal('user.define_outcome'),
    ...done,
    outcome_id: id('outc'),
    description: text,
    rubric: anyObject as never,
    max_iterations: nullable(whole),
  }),
  'system.message': object<EventOf<'system.message'>>({
    type: literal('system.message'),
    ...queued,
    content: list(textBlock),
  }),
};

const serverForms = {
  'session.status_running': object<EventOf<'session.status_running'>>({
    type: literal('session.status_running'),
    ...done,
  }),
  'session.status_rescheduled': object<EventOf<'session.status_rescheduled'>>({
    type: literal('session.status_rescheduled'),
    ...done,
  }),
  'session.status_terminated': object<EventOf<'session.status_terminated'>>({
    type: literal('session.status_terminated'),
    ...done,
  }),
  'session.status_idle': object<EventOf<'session.status_idle'>>({
    type: literal('session.status_idle'),
    ...done,
    ...stopped,
  }),
  'session.updated': object<EventOf<'session.updated'>>({
    type: literal('session.updated'),
    ...done,
    title: optional(nullable(text)),
    metadata: optional(record(text)),
    agent: optional(sessionAgentForm),
    budget: optional(nullable(budgetForm)),
  }),
  'session.usage': object<EventOf<'session.usage'>>({
    type: literal('session.usage'),
    ...done,
    usage: usageForm,
    budget: nullable(budgetForm),
  }),
  'session.error': object<EventOf<'session.error'>>({ type: literal('session.error'), ...done, error: sessionError }),
  'session.thread_created': object<EventOf<'session.thread_created'>>({
    type: literal('session.thread_created'),
    ...ofThread,
    workflow_run_id: nothing,
  }),
  'session.thread_status_running': object<EventOf<'session.thread_status_running'>>({
    type: literal('session.thread_status_running'),
    ...ofThread,
  }),
  'session.thread_status_rescheduled': object<EventOf<'session.thread_status_rescheduled'>>({
    type: literal('session.thread_status_rescheduled'),
    ...ofThread,
  }),
  'session.thread_status_terminated': object<EventOf<'session.thread_status_terminated'>>({
    type: literal('session.thread_status_terminated'),
    ...ofThread,
  }),
  'session.thread_status_idle': object<EventOf<'session.thread_status_idle'>>({
    type: literal('session.thread_status_idle'),
    ...ofThread,
    ...stopped,
  }),
  'agent.message': object<EventOf<'agent.message'>>({
    type: literal('agent.message'),
    ...done,
    content: list(saidBlock),
  }),
  'agent.thinking': object<EventOf<'agent.thinking'>>({ type: literal('agent.thinking'), ...done }),
  'agent.tool_use': object<EventOf<'agent.tool_use'>>({ type: literal('agent.tool_use'), ...call, ...evaluated }),
  'agent.tool_result': object<EventOf<'agent.tool_result'>>({
    type: literal('agent.tool_result'),
    ...result,
    tool_use_id: eventId,
  }),
  'agent.mcp_tool_use': object<EventOf<'agent.mcp_tool_use'>>({
    type: literal('agent.mcp_tool_use'),
    ...call,
    ...evaluated,
    mcp_server_name: text,
  }),
  'agent.mcp_tool_result': object<EventOf<'agent.mcp_tool_result'>>({
    type: literal('agent.mcp_tool_result'),
    ...result,
    mcp_tool_use_id: eventId,
  }),
  'agent.custom_tool_use': object<EventOf<'agent.custom_tool_use'>>({
    type: literal('agent.custom_tool_use'),
    ...call,
  }),
  'agent.thread_message_sent': object<EventOf<'agent.thread_message_sent'>>({
    type: literal('agent.thread_message_sent'),
    ...done,
    to_session_thread_id: threadId,
    to_agent_name: optional(text),
    content: list(messageBlock),
  }),
  'agent.thread_message_received': object<EventOf<'agent.thread_message_received'>>({
    type: literal('agent.thread_message_received'),
    ...done,
    from_session_thread_id: threadId,
    from_agent_name: optional(text),
    content: list(messageBlock),
  }),
  'agent.thread_context_compacted': object<EventOf<'agent.thread_context_compacted'>>({
    type: literal('agent.thread_context_compacted'),
    ...done,
  }),
  'span.model_request_start': object<EventOf<'span.model_request_start'>>({
    type: literal('span.model_request_start'),
    ...done,
  }),
  'span.model_request_end': object<EventOf<'span.model_request_end'>>({
    type: literal('span.model_request_end'),
    ...done,
    model_request_start_id: eventId,
    is_error: bool,
    model_usage: object<ModelUsage>({
      input_tokens: whole,
      output_tokens: whole,
      cache_creation_input_tokens: whole,
      cache_read_input_tokens: whole,
      speed: optional(nullable(literal('standard', 'fast'))),
    }),
  }),
};

/** The form of events in lists. The cast is safe: the maps above have one form for each type. */
export const eventForm = byType<SessionEvent>({ ...clientForms, ...serverForms } as never);

/** The form of events in the response to a send. */
export const sentEventForm = byType<ClientEvent>(clientForms);

const start = object<EventStart>({
  type: literal('event_start'),
  event: byType<EventStart['event']>({
    'agent.message': object({ type: literal('agent.message'), id: eventId }),
    'agent.thinking': object({ type: literal('agent.thinking'), id: eventId }),
  }),
});
const delta = object<EventDelta>({
  type: literal('event_delta'),
  event_id: eventId,
  delta: object({ type: literal('content_delta'), index: whole, content: textBlock }),
});
const deleted = object<SessionDeletedEvent>({ type: literal('session.deleted'), ...done });

/** The form of events on a stream. */
export const streamEventForm = byType<StreamEvent>({
  ...clientForms,
  ...serverForms,
  event_start: start,
  event_delta: delta,
  'session.deleted': deleted,
} as never);
