import { readPages } from '../store/read-pages.ts';
import type { Clock } from '../base/clock.ts';
import { storeLimits } from '../store/limits.ts';
import { webhookLimits } from './limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { SessionRecord } from '../store/records.ts';
import type { SessionListRequest, Store } from '../store/store.ts';
import type { WebhookCursors } from './webhook-cursors.ts';

export interface FindUndelivered {
  readonly store: Pick<Store, 'sessions' | 'heads'>;
  readonly cursors: WebhookCursors;
  readonly workspaces: () => Promise<readonly string[]>;
  readonly clock: Pick<Clock, 'now'>;
  /** Sessions that have not changed since then are delivered completely. */
  readonly from: number;
  /** Whether this is the first search after a start. Later searches skip running sessions, whose node delivers them. */
  readonly isFirst: boolean;
  /** Queues a session; false if the queue is full. */
  readonly notice: (sessionId: string) => boolean;
}

/**
 * Queues every session with events that the address has not received. Returns the time up to which all other sessions are
 * delivered, or undefined if the queue had no room for all of them.
 */
export async function findUndelivered(request: FindUndelivered): Promise<number | undefined> {
  const { workspaces, clock, from } = request;
  let settled = clock.now();
  for (const workspaceId of await workspaces()) {
    const changed = { workspaceId, updatedFrom: from - webhookLimits.webhookMarginMs, includeArchived: true };
    const atWork = { workspaceId, statuses: ['running', 'rescheduling'] as const };
    for (const filter of [changed, atWork]) {
      for await (const sessions of listSessions(request.store, filter)) {
        for (const session of await pickUndelivered(request, sessions)) {
          settled = Math.min(settled, session.updatedAt);
          const isTaken = !request.isFirst && isAtWork(session, clock.now());
          if (!isTaken && !request.notice(session.id)) return undefined;
        }
      }
    }
  }
  return settled;
}

/**
 * Queues every session whose cursor is behind its log, without its record: the session may be deleted, and a thread that ends
 * does not change the record of its session.
 */
export async function checkAllSessions({
  store,
  cursors,
  notice,
}: Pick<FindUndelivered, 'store' | 'cursors' | 'notice'>): Promise<void> {
  for await (const delivery of cursors.list()) {
    const heads = await store.heads([...delivery.keys()]);
    for (const [id, seq] of delivery) if (seq < (heads.get(id) ?? Number.POSITIVE_INFINITY) && !notice(id)) return;
    await yieldToEventLoop();
  }
}

async function* listSessions(
  { sessions }: Pick<Store, 'sessions'>,
  filter: Omit<SessionListRequest, 'limit' | 'cursor' | 'order'>,
): AsyncGenerator<readonly SessionRecord[]> {
  const request = { ...filter, order: 'asc', limit: storeLimits.recordPageItemsMax } as const;
  for await (const page of readPages((from) => sessions.list({ ...request, ...from }))) {
    yield page;
    await yieldToEventLoop();
  }
}

async function pickUndelivered(
  { store, cursors }: FindUndelivered,
  sessions: readonly SessionRecord[],
): Promise<readonly SessionRecord[]> {
  const ids = sessions.map(({ id }) => id);
  const [heads, delivery] = await Promise.all([store.heads(ids), cursors.read(ids)]);
  return sessions.filter(({ id }) => (delivery.get(id) ?? 0) < (heads.get(id) ?? 0));
}

function isAtWork({ status, updatedAt }: SessionRecord, now: number): boolean {
  return (status === 'running' || status === 'rescheduling') && now - updatedAt < webhookLimits.webhookMarginMs;
}
