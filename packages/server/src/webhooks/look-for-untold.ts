import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { SessionRecord } from '../store/records.ts';
import type { SessionListRequest, Store } from '../store/store.ts';
import type { WebhookPlaces } from './webhook-places.ts';

export interface LookForUntold {
  readonly store: Pick<Store, 'sessions' | 'heads'>;
  readonly places: WebhookPlaces;
  readonly workspaces: () => Promise<readonly string[]>;
  readonly clock: Pick<Clock, 'now'>;
  /** Sessions that have not changed since then are told as far as they go. */
  readonly from: number;
  /** Nobody has told anything yet. Later, those that work have somebody who tells of them. */
  readonly isFirst: boolean;
  /** False: there is no room for more. */
  readonly notice: (sessionId: string) => boolean;
}

/**
 * Finds the sessions of which the address does not know everything. Gives back up to when all are told, those found not
 * counted, or nothing if there was no room for all of them.
 */
export async function lookForUntold(request: LookForUntold): Promise<number | undefined> {
  const { workspaces, clock, from } = request;
  let settled = clock.now();
  for (const workspaceId of await workspaces()) {
    const changed = { workspaceId, updatedFrom: from - limits.webhookMarginMs, includeArchived: true };
    const atWork = { workspaceId, statuses: ['running', 'rescheduling'] as const };
    for (const filter of [changed, atWork]) {
      for await (const sessions of listSessions(request.store, filter)) {
        for (const session of await pickUntold(request, sessions)) {
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
 * Looks at every session that the address was ever told of: some are gone, and in some a thread has ended, of which their
 * records say nothing.
 */
export async function lookAtAll({
  store,
  places,
  notice,
}: Pick<LookForUntold, 'store' | 'places' | 'notice'>): Promise<void> {
  for await (const told of places.list()) {
    const heads = await store.heads([...told.keys()]);
    for (const [id, seq] of told) if (seq < (heads.get(id) ?? Number.POSITIVE_INFINITY) && !notice(id)) return;
    await yieldToEventLoop();
  }
}

async function* listSessions(
  { sessions }: Pick<Store, 'sessions'>,
  filter: Omit<SessionListRequest, 'limit' | 'cursor' | 'order'>,
): AsyncGenerator<readonly SessionRecord[]> {
  let cursor: string | null = null;
  do {
    const place: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await sessions.list({ ...filter, order: 'asc', limit: limits.recordPageItemsMax, ...place });
    yield page.items;
    cursor = page.next;
    await yieldToEventLoop();
  } while (cursor !== null);
}

async function pickUntold(
  { store, places }: LookForUntold,
  sessions: readonly SessionRecord[],
): Promise<readonly SessionRecord[]> {
  const ids = sessions.map(({ id }) => id);
  const [heads, told] = await Promise.all([store.heads(ids), places.read(ids)]);
  return sessions.filter(({ id }) => (told.get(id) ?? 0) < (heads.get(id) ?? 0));
}

function isAtWork({ status, updatedAt }: SessionRecord, now: number): boolean {
  return (status === 'running' || status === 'rescheduling') && now - updatedAt < limits.webhookMarginMs;
}
