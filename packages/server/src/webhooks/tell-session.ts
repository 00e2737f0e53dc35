import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { toSessionFrame } from '../frames/frames.ts';
import type { Entry } from '../store/frame.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { type FindPlace, findPlace } from './find-place.ts';
import type { Posted } from './post-webhook.ts';
import { mayBeTold, toDeletedEvent, toWebhookEvents, type WebhookEvent } from './to-webhook-events.ts';
import type { HeldPlace, WebhookPlace, WebhookPlaces } from './webhook-places.ts';

export interface TellSession extends FindPlace {
  readonly places: WebhookPlaces;
  readonly clock: Pick<Clock, 'now'>;
  readonly post: (event: WebhookEvent) => Promise<Posted>;
}

/** What came of it, and how many events the address took. `elsewhere`: another node is at it. */
export type Told = { readonly taken: number } & (
  | { readonly type: 'done' | 'elsewhere' }
  | { readonly type: 'gone' }
  | { readonly type: 'refused'; readonly reason: string }
);

/** Tells an address everything of a session that it was not told, in order, until it does not take an event. */
export async function tellSession(request: TellSession): Promise<Told> {
  const held = await request.places.take(request.sessionId, () => findPlace(request).catch(unlessDeleted));
  if (held === undefined) return { type: 'done', taken: 0 };
  if (held === 'elsewhere') return { type: 'elsewhere', taken: 0 };
  try {
    return await tellBehind(request, held);
  } finally {
    await held.release();
  }
}

async function tellBehind(request: TellSession, held: HeldPlace): Promise<Told> {
  const { store, sessionId } = request;
  if (held.place.isSilent) return await keepSilent(request, held);
  for (let taken = 0; ; ) {
    const entries = await readBehind(store, sessionId, held.place.seq);
    if (entries === undefined) return await tellDeleted(request, held, taken);
    if (entries.length === 0) return { type: 'done', taken };
    const told = await tellEntries(request, held, entries);
    taken += told.taken;
    if (told.type !== 'done') return { ...told, taken };
    if (!(await held.move(entries.at(-1)!.lastSeq))) return { type: 'elsewhere', taken };
  }
}

async function readBehind(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after: number,
): Promise<readonly Entry[] | undefined> {
  const { logBatchEntriesMax: entriesMax, logBatchBytesMax: bytesMax } = limits;
  await yieldToEventLoop();
  return await store.read({ sessionId, after, entriesMax, bytesMax, skipsDeltas: true }).catch(unlessDeleted);
}

/** Sessions may be deleted at any moment. */
function unlessDeleted(error: unknown): undefined {
  if (!isStoreError(error, 'not_found')) throw error;
}

/** The place moves behind each frame that was told: a crash repeats one of them at most. */
async function tellEntries(request: TellSession, held: HeldPlace, entries: readonly Entry[]): Promise<Told> {
  let taken = 0;
  for (const entry of entries) {
    const events = toEvents(request, held.place, entry);
    for (const event of events) {
      const posted = await request.post(event);
      if (posted.type !== 'taken') return { ...posted, taken };
      taken++;
    }
    if (events.length > 0 && !(await held.move(entry.lastSeq))) return { type: 'elsewhere', taken };
  }
  return { type: 'done', taken };
}

function toEvents({ sessionId, clock }: TellSession, place: WebhookPlace, entry: Entry): readonly WebhookEvent[] {
  if (entry.kind !== 'frame' || !mayBeTold(entry.bytes)) return [];
  const frame = toSessionFrame(entry.value);
  const { workspaceId, primaryThreadId, toldFrom } = place;
  // A fork begins when it is made, whenever what it took over began.
  const time = frame.type === 'session.created' ? Math.max(frame.time, toldFrom) : frame.time;
  if (time < toldFrom || time < clock.now() - limits.webhookKeepMs) return [];
  return toWebhookEvents({ sessionId, workspaceId, primaryThreadId }, { ...frame, time }, entry.seq);
}

async function tellDeleted({ sessionId, clock, post }: TellSession, held: HeldPlace, taken: number): Promise<Told> {
  const posted = await post(toDeletedEvent({ sessionId, workspaceId: held.place.workspaceId }, clock.now()));
  if (posted.type !== 'taken') return { ...posted, taken };
  await held.forget();
  return { type: 'done', taken: taken + 1 };
}

async function keepSilent({ store, sessionId }: TellSession, held: HeldPlace): Promise<Told> {
  if (!(await store.heads([sessionId])).has(sessionId)) await held.forget();
  return { type: 'done', taken: 0 };
}
