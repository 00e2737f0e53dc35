import type { ClientEvent as WireClientEvent, SessionEvent } from '@fleetloom/protocol/managed-agents';
import type { Sent, Sessions } from '../../sessions/index.ts';
import type { SessionLog } from '../../log/log.ts';
import type { Store } from '../../store/store.ts';
import type { Place } from '../../views/managed-agents/to-event.ts';
import type { Credential } from '../../keys/credential.ts';
import { nameOf } from '../../keys/name-of.ts';
import type { CatchUp } from '../streams/catch-up.ts';
import { requestError } from '../../base/request-error.ts';
import { checkEventScopes } from '../routing/route-scopes.ts';
import { checkShownFiles } from '../../files/check-shown-files.ts';
import type { FileStore } from '../../files/file-store.ts';
import { createdRange, wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { eventListQuery, eventSendBody, eventStreamQuery, sentEvents, wireEvent } from '../schemas/event.ts';
import type { EventFeeds } from '../feeds/event-feeds.ts';
import { listPage } from '../feeds/list-page.ts';
import { headOf } from '../feeds/head-of.ts';
import { dataOf, readSession } from './read-session.ts';
import { toClientEvents } from '../convert/to-client-events.ts';

/** The services that events are sent to and read from. */
export interface EventRoutesOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly sessions: Sessions;
  readonly catchUp: CatchUp;
  readonly feeds: EventFeeds;
  readonly files: FileStore;
}

/** `/v1/sessions/{session_id}/events`. */
export function createEventRoutes({ store, sessions, catchUp, feeds, files }: EventRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.events.send',
      summary: 'Send events to a session, all of them or none',
      method: 'post',
      path: '/v1/sessions/{session_id}/events',
      accepts: ['api', 'environment', 'session'],
      body: eventSendBody,
      startsWork: ({ events }) => events.every(({ type }) => WORK.has(type)),
      gives: sentEvents,
      handle: async ({ credential, params, body, memory, audit }) => {
        const { session_id: sessionId } = params;
        checkSender(credential, body.events);
        checkEventScopes(credential, body.events);
        await readSession(store, credential, sessionId);
        const read = toClientEvents('sessions.events.send', body.events, { by: nameOf(credential) });
        await checkShownFiles(files, credential.workspaceId, read.events);
        const head = await headOf(store, sessionId);
        const toKey = (sent: readonly Sent[]) => memory.toKey({ data: sent.map(toEcho) });
        // Before sending: a fast agent may respond, and readers may read the response, before the send returns.
        await catchUp.sent(sessionId, head);
        const sent = await sessions.send({ workspaceId: credential.workspaceId, sessionId, ...read, toKey, audit });
        // A client that polls must find the session running, otherwise it mistakes the earlier idle state for the end of the turn. If this
        // fails, the events are stored nevertheless, and the owner node, which receives them too, reports the error.
        await sessions.applyInputs(sessionId).catch(() => {});
        return { data: sent.map(toEcho) };
      },
    }),
    defineRoute({
      name: 'sessions.events.list',
      summary: 'List the events of a session',
      method: 'get',
      path: '/v1/sessions/{session_id}/events',
      accepts: ['api', 'environment', 'session'],
      query: eventListQuery,
      gives: wirePage(wireEvent),
      handle: async ({ credential, params, query, incoming }) => {
        const head = await headOf(store, params.session_id);
        const session = await readSession(store, credential, params.session_id);
        const { primary_thread_id: primaryId, waiting_ids: waitingIds } = dataOf(session);
        if (session.status === 'idle' && incoming.method !== 'HEAD') await catchUp.seen(session.id, head);
        const { from, to } = createdRange(query);
        const types = query.types === undefined ? undefined : new Set<string>(query.types);
        const isWanted = (event: SessionEvent) => {
          if (types !== undefined && !types.has(event.type)) return false;
          if (from === undefined && to === undefined) return true;
          const time = event.processed_at === null ? Number.NaN : Date.parse(event.processed_at);
          return time >= (from ?? -Infinity) && time <= (to ?? Infinity);
        };
        const place = { primaryId, threadId: primaryId };
        return listPage(query, { store, sessionId: session.id, place, waitingIds, order: query.order, isWanted });
      },
    }),
    defineRoute({
      name: 'sessions.events.stream',
      summary: 'Watch the events of a session',
      method: 'get',
      path: '/v1/sessions/{session_id}/events/stream',
      accepts: ['api', 'environment', 'session'],
      query: eventStreamQuery,
      gives: 'stream',
      handle: async ({ credential, params, query, headers, openStream, fail }) => {
        const session = await readSession(store, credential, params.session_id);
        const { primary_thread_id: primaryId } = dataOf(session);
        const place: Place = { primaryId, threadId: primaryId };
        const caughtUp = await catchUp.take(session.id);
        const isOver = session.status === 'terminated';
        const previews = query.event_deltas;
        return feeds.open({ session, place, isOver, previews, headers, caughtUp, openStream, fail });
      },
    }),
  ];
}

/** Events that begin a turn. Decisions, interrupts and results belong to work that was admitted, and let it end. */
const WORK: ReadonlySet<string> = new Set(['user.message', 'system.message', 'user.define_outcome']);

/** Workers may only send tool results: they neither start tool calls nor decide approvals. */
function checkSender({ kind }: Credential, events: readonly { readonly type: string }[]): void {
  const isResult = ({ type }: { readonly type: string }) =>
    type === 'user.tool_result' || type === 'user.custom_tool_result';
  const index = kind === 'api' ? -1 : events.findIndex((event) => !isResult(event));
  if (index === -1) return;
  throw requestError('key_not_allowed', `events.${index}: ${events[index]!.type} is not for workers`);
}

/** The event in the response to its send. */
function toEcho({ id, event, time, threadId }: Sent): WireClientEvent {
  const isDone = event.type === 'user.custom_tool_result' || event.type === 'user.tool_result';
  const known = {
    id,
    processed_at: isDone ? new Date(time).toISOString() : null,
    ...(threadId === null ? {} : { session_thread_id: threadId }),
  };
  if (event.type === 'user.interrupt') return { type: event.type, ...known };
  if (event.type === 'user.tool_confirmation') {
    const { type, tool_use_id, result, deny_message: text } = event;
    return { type, ...known, tool_use_id, result, ...(text === null ? {} : { deny_message: text }) };
  }
  // Both types have the same shape; the wire type only lists the possible sources more exactly.
  return { ...withoutSender(event), ...known } as unknown as WireClientEvent;
}

/** The sender of a result is recorded only in the log: official clients receive what they sent. */
function withoutSender(event: Sent['event']): Sent['event'] {
  if (event.type !== 'user.custom_tool_result') return event;
  const { type, custom_tool_use_id, content, is_error } = event;
  return { type, custom_tool_use_id, content, is_error };
}
