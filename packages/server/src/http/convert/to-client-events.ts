import type { ClientEventParams } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../base/json/json.ts';
import type { ClientEvent } from '../../sessions/index.ts';
import { requestError } from '../../base/request-error.ts';

/** The events of a request body, converted for the session. */
export interface ReadEvents {
  readonly events: readonly ClientEvent[];
  /** The thread that the client names for a tool call, by the index of the event. */
  readonly claimedThreads: ReadonlyMap<number, string>;
}

/** Converts the events of a request body, whose order and types it checks. The session checks references to tool calls. */
export function toClientEvents(
  operation: string,
  params: readonly ClientEventParams[],
  {
    field = 'events',
    by,
  }: {
    /** The field of the body that contains them, for error messages. */
    readonly field?: string;
    /** The name of the key that sent them. */
    readonly by?: string;
  } = {},
): ReadEvents {
  const claimedThreads = new Map<number, string>();
  const events = params.map((event, index) => {
    const threadId = 'session_thread_id' in event ? event.session_thread_id : undefined;
    if (event.type !== 'user.interrupt' && threadId) claimedThreads.set(index, threadId);
    const place = `${operation}: ${field}.${index}`;
    if (event.type === 'system.message') checkSystemMessage(place, params, index);
    const read = toClientEvent(place, event);
    return isDecision(read) && by !== undefined ? { ...read, by } : read;
  });
  return { events, claimedThreads };
}

/** Whether the log records the sender of the event. A worker only ran the tool; the decision was made elsewhere. */
function isDecision(event: ClientEvent): event is Extract<ClientEvent, { readonly by?: string }> {
  return event.type === 'user.tool_confirmation' || event.type === 'user.custom_tool_result';
}

function toClientEvent(place: string, event: ClientEventParams): ClientEvent {
  switch (event.type) {
    case 'user.message':
      // Both types have the same shape; the wire type only lists the possible sources more exactly.
      return { type: event.type, content: event.content as never };
    case 'system.message':
      return { type: event.type, content: event.content };
    case 'user.interrupt':
      return { type: event.type, session_thread_id: event.session_thread_id || null };
    case 'user.tool_confirmation': {
      const { type, tool_use_id, result, deny_message, rule, updated_input, interrupt } = event;
      return {
        type,
        tool_use_id,
        result,
        deny_message: deny_message ?? null,
        rule: rule ?? null,
        // The body was parsed from JSON.
        ...(updated_input == null ? {} : { updated_input: updated_input as JsonObject }),
        ...(interrupt === true ? { interrupt } : {}),
      };
    }
    case 'user.custom_tool_result': {
      const { type, custom_tool_use_id, content = [], is_error } = event;
      return { type, custom_tool_use_id, content: content as never, is_error: is_error ?? false };
    }
    case 'user.tool_result': {
      const { type, tool_use_id, content = [], is_error } = event;
      return { type, tool_use_id, content: content as never, is_error: is_error ?? false };
    }
    case 'user.define_outcome':
      throw requestError('invalid_request', `${place}: user.define_outcome is not supported`, {
        advice: 'describe the goal in a user.message',
      });
  }
}

/** A system message belongs to the message or result before it: only one is allowed, as the last event. */
function checkSystemMessage(place: string, params: readonly ClientEventParams[], index: number): void {
  const before = params[index - 1]?.type;
  const isLast = index === params.length - 1;
  if (isLast && before !== undefined && before !== 'user.interrupt' && before !== 'system.message') return;
  throw requestError('invalid_request', `${place}: a system.message is alone or in the wrong position`, {
    advice: 'send it last, right after the user.message or the result that it goes with',
  });
}
