import type { Clock } from '../base/clock.ts';
import { storeLimits } from '../store/limits.ts';
import { webhookLimits } from './limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { toSessionFrame } from '../frames/frames.ts';
import type { Entry } from '../store/frame.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { type FindCursor, findCursor } from './find-cursor.ts';
import type { Posted } from './post-webhook.ts';
import { mayBeDeliverable, toDeletedEvent, toWebhookEvents, type WebhookEvent } from './to-webhook-events.ts';
import type { HeldCursor, WebhookCursor, WebhookCursors } from './webhook-cursors.ts';

export interface DeliverSession extends FindCursor {
  readonly cursors: WebhookCursors;
  readonly clock: Pick<Clock, 'now'>;
  readonly post: (event: WebhookEvent) => Promise<Posted>;
}

/** How a delivery ended, and how many events the address accepted. `elsewhere`: another node delivers this session. */
export type Delivery = { readonly delivered: number } & (
  | { readonly type: 'done' | 'elsewhere' }
  | { readonly type: 'gone' }
  | { readonly type: 'refused'; readonly reason: string }
);

/** Sends an address every event of a session that it has not received, in order, until it rejects one. */
export async function deliverSession(request: DeliverSession): Promise<Delivery> {
  const held = await request.cursors.take(request.sessionId, () => findCursor(request).catch(unlessDeleted));
  if (held === undefined) return { type: 'done', delivered: 0 };
  if (held === 'elsewhere') return { type: 'elsewhere', delivered: 0 };
  try {
    return await deliverPending(request, held);
  } finally {
    await held.release();
  }
}

async function deliverPending(request: DeliverSession, held: HeldCursor): Promise<Delivery> {
  const { store, sessionId } = request;
  if (held.cursor.isSilent) return await keepSilent(request, held);
  for (let delivered = 0; ; ) {
    const entries = await readAfter(store, sessionId, held.cursor.seq);
    if (entries === undefined) return await deliverDeletion(request, held, delivered);
    if (entries.length === 0) return { type: 'done', delivered };
    const delivery = await deliverEntries(request, held, entries);
    delivered += delivery.delivered;
    if (delivery.type !== 'done') return { ...delivery, delivered };
    if (!(await held.move(entries.at(-1)!.lastSeq))) return { type: 'elsewhere', delivered };
  }
}

async function readAfter(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after: number,
): Promise<readonly Entry[] | undefined> {
  const { logBatchEntriesMax: entriesMax, logBatchBytesMax: bytesMax } = storeLimits;
  await yieldToEventLoop();
  return await store.read({ sessionId, after, entriesMax, bytesMax, skipsDeltas: true }).catch(unlessDeleted);
}

/** Ignores the error of a session that was deleted while it was read. */
function unlessDeleted(error: unknown): undefined {
  if (!isStoreError(error, 'not_found')) throw error;
}

/** Delivers entries. The cursor advances past each delivered frame, so a crash repeats at most one of them. */
async function deliverEntries(request: DeliverSession, held: HeldCursor, entries: readonly Entry[]): Promise<Delivery> {
  let delivered = 0;
  for (const entry of entries) {
    const events = toEvents(request, held.cursor, entry);
    for (const event of events) {
      const posted = await request.post(event);
      if (posted.type !== 'accepted') return { ...posted, delivered };
      delivered++;
    }
    if (events.length > 0 && !(await held.move(entry.lastSeq))) return { type: 'elsewhere', delivered };
  }
  return { type: 'done', delivered };
}

function toEvents({ sessionId, clock }: DeliverSession, cursor: WebhookCursor, entry: Entry): readonly WebhookEvent[] {
  if (entry.kind !== 'frame' || !mayBeDeliverable(entry.bytes)) return [];
  const frame = toSessionFrame(entry.value);
  const { workspaceId, primaryThreadId, deliverFrom } = cursor;
  // A fork starts when it is created, however old the frames are that it copied.
  const time = frame.type === 'session.created' ? Math.max(frame.time, deliverFrom) : frame.time;
  if (time < deliverFrom || time < clock.now() - webhookLimits.webhookKeepMs) return [];
  return toWebhookEvents({ sessionId, workspaceId, primaryThreadId }, { ...frame, time }, entry.seq);
}

async function deliverDeletion(
  { sessionId, clock, post }: DeliverSession,
  held: HeldCursor,
  delivered: number,
): Promise<Delivery> {
  const posted = await post(toDeletedEvent({ sessionId, workspaceId: held.cursor.workspaceId }, clock.now()));
  if (posted.type !== 'accepted') return { ...posted, delivered };
  await held.forget();
  return { type: 'done', delivered: delivered + 1 };
}

async function keepSilent({ store, sessionId }: DeliverSession, held: HeldCursor): Promise<Delivery> {
  if (!(await store.heads([sessionId])).has(sessionId)) await held.forget();
  return { type: 'done', delivered: 0 };
}
