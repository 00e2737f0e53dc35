import type { ClientEventParams } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../base/json.ts';
import type { ClientEvent } from '../../sessions/index.ts';
import { doorError } from '../door-error.ts';

export interface ReadEvents {
  readonly events: readonly ClientEvent[];
  /** Which thread a client believes a call to be of, by the index of the event. */
  readonly claimedThreads: ReadonlyMap<number, string>;
}

/** What was sent, as sessions take it. Order and what we do not have are checked here, references when it is sent. */
export function toClientEvents(
  operation: string,
  params: readonly ClientEventParams[],
  {
    field = 'events',
    by,
  }: {
    /** The field that they came in. */
    readonly field?: string;
    /** Who sent them. */
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

/** What the log says of who sent it. What a worker has run, somebody else had decided. */
function isDecision(event: ClientEvent): event is Extract<ClientEvent, { readonly by?: string }> {
  return event.type === 'user.tool_confirmation' || event.type === 'user.custom_tool_result';
}

function toClientEvent(place: string, event: ClientEventParams): ClientEvent {
  switch (event.type) {
    case 'user.message':
      // The forms are the same; only what a source may be is said more exactly on the wire.
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
        // The body was parsed from JSON, so that what it holds is JSON.
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
      throw doorError('invalid_request', `${place}: user.define_outcome is not supported`, {
        advice: 'say in a user.message what is to be reached',
      });
  }
}

/** It goes with the message or result before it, so it is the last one and there is only one. */
function checkSystemMessage(place: string, params: readonly ClientEventParams[], index: number): void {
  const before = params[index - 1]?.type;
  const isLast = index === params.length - 1;
  if (isLast && before !== undefined && before !== 'user.interrupt' && before !== 'system.message') return;
  throw doorError('invalid_request', `${place}: a system.message stands alone or in the wrong place`, {
    advice: 'send it last, right after the user.message or the result that it goes with',
  });
}
