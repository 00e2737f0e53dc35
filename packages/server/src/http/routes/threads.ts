import type { Clock } from '../../base/clock.ts';
import type { Sent, Sessions } from '../../sessions/index.ts';
import type { ThreadRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { toThread } from '../../views/managed-agents/to-session.ts';
import type { Credential } from '../../keys/credential.ts';
import { requestError } from '../../base/request-error.ts';
import { toPageRequest, toWirePage, wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { eventStreamQuery, threadEventListQuery, threadMessageBody, wireEvent } from '../schemas/event.ts';
import { thread, threadListQuery } from '../schemas/session.ts';
import type { EventFeeds } from '../feeds/event-feeds.ts';
import { listPage } from '../feeds/list-page.ts';
import { dataOf, readSession } from './read-session.ts';

/** The services that threads are read from and events are sent to. */
export interface ThreadRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly feeds: EventFeeds;
}

/** `/v1/sessions/{session_id}/threads`. */
export function createThreadRoutes({ store, sessions, clock, feeds }: ThreadRoutesOptions): readonly AnyRoute[] {
  const show = (record: ThreadRecord) => toThread(record, clock.now());

  return [
    defineRoute({
      name: 'sessions.threads.list',
      summary: 'List the threads of a session, the primary one first',
      method: 'get',
      path: '/v1/sessions/{session_id}/threads',
      accepts: ['api', 'environment', 'session'],
      query: threadListQuery,
      gives: wirePage(thread),
      handle: async ({ credential, params, query }) => {
        const { id: sessionId } = await readSession(store, credential, params.session_id);
        const statuses = query.statuses === undefined ? {} : { statuses: query.statuses };
        const page = await store.threads.list({ ...toPageRequest(query), order: 'asc', sessionId, ...statuses });
        return toWirePage({ ...page, items: page.items.map(show) });
      },
    }),
    defineRoute({
      name: 'sessions.threads.retrieve',
      summary: 'Read a thread',
      method: 'get',
      path: '/v1/sessions/{session_id}/threads/{thread_id}',
      accepts: ['api', 'environment', 'session'],
      gives: thread,
      handle: async ({ credential, params }) => show((await read(credential, params)).record),
    }),
    defineRoute({
      name: 'sessions.threads.archive',
      summary: 'Archive a thread that does not run',
      method: 'post',
      path: '/v1/sessions/{session_id}/threads/{thread_id}/archive',
      accepts: ['api'],
      gives: thread,
      handle: async ({ credential, params }) => {
        await read(credential, params);
        return show(await sessions.archiveThread(credential.workspaceId, params.session_id, params.thread_id));
      },
    }),
    defineRoute({
      name: 'sessions.threads.messages.send',
      summary: 'Send a message to one thread, which reads it before its next model request or starts a turn with it',
      method: 'post',
      path: '/v1/sessions/{session_id}/threads/{thread_id}/messages',
      accepts: ['api'],
      body: threadMessageBody,
      startsWork: true,
      gives: wireEvent,
      handle: async ({ credential, params, body, memory }) => {
        const { session, record } = await read(credential, params);
        const { content } = body;
        const events = [{ type: 'user.message' as const, content, thread_id: record.id }];
        const show = ({ id }: Pick<Sent, 'id'>) => ({ type: 'user.message', id, processed_at: null, content });
        const toKey = ([sent]: readonly Sent[]) => memory.toKey(show(sent!));
        const request = { workspaceId: credential.workspaceId, sessionId: session.id, events, toKey };
        const [sent] = await sessions.send(request);
        await sessions.applyInputs(session.id).catch(() => {});
        return show(sent!);
      },
    }),
    defineRoute({
      name: 'sessions.threads.events.list',
      summary: 'List the events of a thread',
      method: 'get',
      path: '/v1/sessions/{session_id}/threads/{thread_id}/events',
      accepts: ['api', 'environment', 'session'],
      query: threadEventListQuery,
      gives: wirePage(wireEvent),
      handle: async ({ credential, params, query }) => {
        const { session, place } = await read(credential, params);
        const { waiting_ids: waitingIds } = dataOf(session);
        const isWanted = () => true;
        return listPage(query, { store, sessionId: session.id, place, waitingIds, order: 'asc', isWanted });
      },
    }),
    defineRoute({
      name: 'sessions.threads.stream',
      summary: 'Watch the events of a thread',
      method: 'get',
      path: '/v1/sessions/{session_id}/threads/{thread_id}/stream',
      accepts: ['api', 'environment', 'session'],
      query: eventStreamQuery,
      gives: 'stream',
      handle: async ({ credential, params, query, headers, openStream, fail }) => {
        const { session, record, place } = await read(credential, params);
        const isOver = record.status === 'terminated' || session.status === 'terminated';
        const previews = query.event_deltas;
        return feeds.open({ session, place, isOver, previews, headers, caughtUp: undefined, openStream, fail });
      },
    }),
  ];

  async function read(credential: Credential, params: { readonly session_id: string; readonly thread_id: string }) {
    const session = await readSession(store, credential, params.session_id);
    const record = await store.threads.get(session.id, params.thread_id);
    if (record === undefined) throw requestError('unknown_id', `${params.thread_id} does not exist`);
    const place = { primaryId: dataOf(session).primary_thread_id, threadId: record.id };
    return { session, record, place };
  }
}
