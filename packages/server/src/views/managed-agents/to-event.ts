import type { RefusalCategory, SessionError, SessionEvent, StopDetails } from '@fleetloom/protocol/managed-agents';
import type { Json } from '../../base/json/json.ts';
import type { FramePayloads, FrameType, SessionFrame } from '../../frames/frames.ts';
import { toWireBudget, toWireUsage } from './to-usage.ts';

/**
 * The thread whose stream is read. The session's stream is that of its primary thread plus cross-posted events of other threads.
 */
export interface Place {
  readonly primaryId: string;
  /** The thread whose events are read. */
  readonly threadId: string;
}

/** The Managed Agents event of a frame; undefined if this reader does not receive it. */
export function toEvent(frame: SessionFrame, place: Place): SessionEvent | undefined {
  const isOwn = isOfThread(frame, place);
  if (!isOwn && !(place.threadId === place.primaryId && isCrossPosted(frame))) return undefined;
  const known = isOwn ? ownCopies : crossPosts;
  if (!known.has(frame)) known.set(frame, show(frame, isOwn));
  return known.get(frame);
}

/** All readers of a frame share one event, so that it is built and encoded once. */
const ownCopies = new WeakMap<SessionFrame, SessionEvent | undefined>();
const crossPosts = new WeakMap<SessionFrame, SessionEvent | undefined>();

function show(frame: SessionFrame, isOwn: boolean): SessionEvent | undefined {
  const toShown = shows[frame.type] as Show<FrameType> | undefined;
  const seen: Seen = {
    at: new Date(frame.time).toISOString(),
    // On a thread's own stream, events do not name the thread.
    of: isOwn || frame.threadId === null ? {} : { session_thread_id: frame.threadId },
  };
  // One function per type, so the payload is that of its type.
  return toShown?.(frame.payload, seen);
}

/** Frames without a thread belong to the session, and appear on the primary thread. */
function isOfThread({ threadId }: SessionFrame, place: Place): boolean {
  return (threadId ?? place.primaryId) === place.threadId;
}

/** Events that a client must see without reading every thread: statuses, and calls that need a decision or result. */
function isCrossPosted({ type, payload }: SessionFrame): boolean {
  switch (type) {
    case 'agent.tool_use':
      return payload.evaluated_permission === 'ask' || payload.runs_at === 'worker';
    case 'agent.mcp_tool_use':
      return payload.evaluated_permission === 'ask';
    case 'agent.custom_tool_use':
    case 'session.error':
      return true;
    default:
      // A message to a child thread belongs to that thread: on the primary thread it would look like a message to the coordinator.
      return type.startsWith('session.thread_status_') || (type.startsWith('user.') && type !== 'user.message');
  }
}

interface Seen {
  readonly at: string;
  readonly of: { readonly session_thread_id?: string };
}

type Show<Type extends FrameType> = (payload: FramePayloads[Type], seen: Seen) => SessionEvent;

const shows: { readonly [Type in FrameType]?: Show<Type> } = {
  'session.status_running': ({ id }, { at }) => ({ type: 'session.status_running', id, processed_at: at }),
  'session.status_rescheduled': ({ id }, { at }) => ({ type: 'session.status_rescheduled', id, processed_at: at }),
  'session.status_terminated': ({ id }, { at }) => ({ type: 'session.status_terminated', id, processed_at: at }),
  'session.status_idle': ({ id, stop_reason, stop_details }, { at }) => ({
    type: 'session.status_idle',
    id,
    processed_at: at,
    stop_reason,
    stop_details: toDetails(stop_details),
  }),
  'session.updated': ({ id, title, metadata, agent, budget }, { at }) => ({
    type: 'session.updated',
    id,
    processed_at: at,
    ...(title === undefined ? {} : { title }),
    // The server accepts only strings.
    ...(metadata === undefined ? {} : { metadata: metadata as Readonly<Record<string, string>> }),
    ...(agent === undefined ? {} : { agent }),
    ...(budget === undefined ? {} : { budget: toWireBudget(budget) }),
  }),
  'session.usage': ({ id, usage, active_ms, budget }, { at }) => ({
    type: 'session.usage',
    id,
    processed_at: at,
    usage: toWireUsage(usage, active_ms),
    budget: toWireBudget(budget),
  }),
  'session.error': ({ id, error, retry }, { at }) => {
    return { type: 'session.error', id, processed_at: at, error: toError(error, retry) };
  },
  'session.thread_created': ({ id, session_thread_id, agent_name }, { at }) => ({
    type: 'session.thread_created',
    id,
    processed_at: at,
    session_thread_id,
    agent_name,
    workflow_run_id: null,
  }),
  'session.thread_status_running': (payload, { at }) => toStatus('session.thread_status_running', payload, at),
  'session.thread_status_rescheduled': (payload, { at }) => toStatus('session.thread_status_rescheduled', payload, at),
  'session.thread_status_terminated': (payload, { at }) => toStatus('session.thread_status_terminated', payload, at),
  'session.thread_status_idle': ({ id, session_thread_id, agent_name, stop_reason, stop_details }, { at }) => ({
    type: 'session.thread_status_idle',
    id,
    processed_at: at,
    session_thread_id,
    agent_name,
    stop_reason,
    stop_details: toDetails(stop_details),
  }),

  'user.message': ({ id, content, is_processed }, { at }) => ({
    type: 'user.message',
    id,
    processed_at: is_processed ? at : null,
    content: content as never,
  }),
  'system.message': ({ id, content, is_processed }, { at }) => ({
    type: 'system.message',
    id,
    processed_at: is_processed ? at : null,
    content,
  }),
  'user.interrupt': ({ id }, { at, of }) => ({ type: 'user.interrupt', id, processed_at: at, ...of }),
  'user.tool_confirmation': ({ id, tool_use_id, result, deny_message }, { at, of }) => ({
    type: 'user.tool_confirmation',
    id,
    processed_at: at,
    ...of,
    tool_use_id,
    result,
    ...(deny_message === null ? {} : { deny_message }),
  }),
  'user.custom_tool_result': ({ id, custom_tool_use_id, content, is_error }, { at, of }) => ({
    type: 'user.custom_tool_result',
    id,
    processed_at: at,
    ...of,
    custom_tool_use_id,
    content: content as never,
    is_error,
  }),
  'user.tool_result': ({ id, tool_use_id, content, is_error }, { at, of }) => ({
    type: 'user.tool_result',
    id,
    processed_at: at,
    ...of,
    tool_use_id,
    content: content as never,
    is_error,
  }),

  'agent.message': ({ id, content }, { at }) => ({ type: 'agent.message', id, processed_at: at, content }),
  'agent.thinking': ({ id }, { at }) => ({ type: 'agent.thinking', id, processed_at: at }),
  'agent.tool_use': ({ id, name, input, evaluated_permission: permission }, { at, of }) => ({
    type: 'agent.tool_use',
    id,
    processed_at: at,
    ...of,
    name,
    input: toObject(input),
    ...toEvaluation(permission),
  }),
  'agent.mcp_tool_use': ({ id, name, input, mcp_server_name, evaluated_permission: permission }, { at, of }) => ({
    type: 'agent.mcp_tool_use',
    id,
    processed_at: at,
    ...of,
    mcp_server_name,
    name,
    input: toObject(input),
    ...toEvaluation(permission),
  }),
  'agent.custom_tool_use': ({ id, name, input }, { at, of }) => ({
    type: 'agent.custom_tool_use',
    id,
    processed_at: at,
    ...of,
    name,
    input: toObject(input),
  }),
  'agent.tool_result': ({ id, tool_use_id, content, is_error }, { at }) => ({
    type: 'agent.tool_result',
    id,
    processed_at: at,
    tool_use_id,
    content: content as never,
    is_error,
  }),
  'agent.mcp_tool_result': ({ id, mcp_tool_use_id, content, is_error }, { at }) => ({
    type: 'agent.mcp_tool_result',
    id,
    processed_at: at,
    mcp_tool_use_id,
    content: content as never,
    is_error,
  }),
  'agent.thread_message_sent': ({ id, to_session_thread_id, to_agent_name: name, content }, { at }) => ({
    type: 'agent.thread_message_sent',
    id,
    processed_at: at,
    to_session_thread_id,
    ...(name === null ? {} : { to_agent_name: name }),
    content: content as never,
  }),
  'agent.thread_message_received': ({ id, from_session_thread_id, from_agent_name: name, content }, { at }) => ({
    type: 'agent.thread_message_received',
    id,
    processed_at: at,
    from_session_thread_id,
    ...(name === null ? {} : { from_agent_name: name }),
    content: content as never,
  }),
  'agent.thread_context_compacted': ({ id }, { at }) => ({
    type: 'agent.thread_context_compacted',
    id,
    processed_at: at,
  }),
  'span.model_request_start': ({ id }, { at }) => ({ type: 'span.model_request_start', id, processed_at: at }),
  'span.model_request_end': ({ id, model_request_start_id, is_error, model_usage: usage }, { at }) => ({
    type: 'span.model_request_end',
    id,
    processed_at: at,
    model_request_start_id,
    is_error,
    model_usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_creation_input_tokens: usage.cache_creation_5m_input_tokens + usage.cache_creation_1h_input_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
    },
  }),
};

type StatusType = `session.thread_status_${'running' | 'rescheduled' | 'terminated'}`;

function toStatus(type: StatusType, payload: FramePayloads[StatusType], at: string): SessionEvent {
  const { id, session_thread_id, agent_name } = payload;
  return { type, id, processed_at: at, session_thread_id, agent_name };
}

/** Models may return values that the wire does not define. */
function toDetails(details: FramePayloads['session.status_idle']['stop_details']): StopDetails | null {
  if (details === null) return null;
  const category = refusalCategories.find((known) => known === details.category) ?? null;
  return { type: details.type, category, explanation: details.explanation };
}

const refusalCategories: readonly RefusalCategory[] = [
  'cyber',
  'bio',
  'frontier_llm',
  'reasoning_extraction',
  'general_harms',
];

/** A call that was rejected before its policy was evaluated has no evaluation. */
function toEvaluation(permission: 'allow' | 'ask' | 'deny') {
  if (permission === 'deny') return { evaluated_permission: permission };
  return { evaluated_permission: permission, evaluation: { type: `always_${permission}` } } as const;
}

/** Tool input is an object by contract. Anything else is wrapped in an object, because clients rely on it. */
function toObject(input: Json): Readonly<Record<string, unknown>> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? (input as Readonly<Record<string, unknown>>) : { input };
}

function toError(
  error: FramePayloads['session.error']['error'],
  retry: 'retrying' | 'exhausted' | 'terminal',
): SessionError {
  const { type, message, mcp_server_name: server = '', repository_url: url = null } = error;
  const { credential_id = '', vault_id = '' } = error;
  const failed = { message, retry_status: { type: retry } };
  switch (type) {
    case 'mcp_connection_failed_error':
    case 'mcp_authentication_failed_error':
      return { type, ...failed, mcp_server_name: server };
    case 'credential_host_unreachable_error':
      return { type, ...failed, credential_id, vault_id };
    case 'repository_authentication_error':
    case 'repository_forbidden_error':
    case 'repository_not_found_error':
    case 'repository_checkout_error':
    case 'repository_clone_error':
      return { type, ...failed, repository_url: url };
    default:
      return { type, ...failed };
  }
}
