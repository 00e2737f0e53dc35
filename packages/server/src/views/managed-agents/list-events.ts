import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { storeLimits } from '../../store/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { toSessionFrame } from '../../frames/frames.ts';
import type { StoredFrame } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { readStored, readStoredBackward, readStoredForward } from '../read-frames.ts';
import { toQueuedMessage } from './queued-message.ts';
import { type Place, toEvent } from './to-event.ts';

/** A page of the events of a session or thread. */
export interface ListEvents {
  readonly store: Pick<Store, 'read' | 'heads'>;
  readonly sessionId: string;
  readonly place: Place;
  /** Ids of queued messages, from the record of the session. */
  readonly waitingIds: readonly string[];
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Where the previous page ended. */
  readonly cursor: number | null;
  readonly isWanted: (event: SessionEvent) => boolean;
}

/** Events with the position of the next page. */
export interface EventPage {
  readonly events: readonly SessionEvent[];
  /** Null on the last page. */
  readonly next: number | null;
}

/**
 * A page of events. Queued messages come last, because they will be processed after everything else. The page ends
 * at the limit, or before the event that would exceed the size of a page; a single larger event is a page of its own.
 */
export async function listEvents(request: ListEvents): Promise<EventPage> {
  const { limit, isWanted } = request;
  const events: SessionEvent[] = [];
  let bytes = 0;
  let last = 0;
  for await (const { stored, cursor } of request.order === 'asc' ? ascending(request) : descending(request)) {
    const event = toEvent(toSessionFrame(stored.value), request.place);
    if (event === undefined || !isWanted(event)) continue;
    // An event is about as large as its frame.
    bytes += stored.bytes.length;
    // One more event than the page holds proves that there is a next page.
    const isFull = events.length === limit || (bytes > storeLimits.pageBytesMax && events.length > 0);
    if (isFull) return { events, next: last };
    events.push(event);
    last = cursor;
  }
  return { events, next: null };
}

interface Listed {
  readonly stored: StoredFrame;
  /** The `seq` of the frame; for a queued message, minus its position in the queue. */
  readonly cursor: number;
}

async function* ascending(request: ListEvents): AsyncGenerator<Listed> {
  const { store, sessionId, cursor } = request;
  if (cursor === null || cursor > 0) yield* settled(readStoredForward(store, sessionId, cursor ?? 0, undefined, SKIP));
  const after = cursor !== null && cursor < 0 ? -cursor : 0;
  yield* readWaiting(request, (await findWaiting(request)).slice(after));
}

async function* descending(request: ListEvents): AsyncGenerator<Listed> {
  const { store, sessionId, cursor } = request;
  const isAmongWaiting = cursor === null || cursor < 0;
  if (isAmongWaiting) {
    const waiting = await findWaiting(request);
    const before = waiting.slice(0, cursor === null ? waiting.length : -cursor - 1);
    yield* readWaiting(request, before.toReversed());
  }
  yield* settled(readStoredBackward(store, sessionId, isAmongWaiting ? null : cursor, SKIP));
}

/** All events except queued messages, which are listed where they are processed. */
async function* settled(frames: AsyncIterable<StoredFrame>): AsyncGenerator<Listed> {
  for await (const stored of frames) {
    if (toQueuedMessage(stored) === undefined) yield { stored, cursor: stored.seq };
  }
}

interface Waiting {
  readonly seq: number;
  readonly cursor: number;
}

/** Finds the frames of queued messages, without their content: all of them together are too large for memory. Reads backward, because nearly all are recent. */
async function findWaiting({ store, sessionId, place, waitingIds }: ListEvents): Promise<Waiting[]> {
  const wanted = new Set(waitingIds);
  const found: number[] = [];
  if (wanted.size === 0) return [];
  for await (const stored of readStoredBackward(store, sessionId, null, SKIP)) {
    const message = toQueuedMessage(stored);
    if (message === undefined || !wanted.delete(message.id)) continue;
    if ((message.threadId ?? place.primaryId) === place.threadId) found.push(stored.seq);
    if (wanted.size === 0) break;
  }
  return found.toReversed().map((seq, index) => ({ seq, cursor: -(index + 1) }));
}

async function* readWaiting({ store, sessionId }: ListEvents, all: readonly Waiting[]): AsyncGenerator<Listed> {
  for (const { seq, cursor } of all) {
    const stored = await readStored(store, sessionId, seq);
    if (stored !== undefined) yield { stored, cursor };
    await yieldToEventLoop();
  }
}

/** Lists have no deltas. */
const SKIP = { skipsDeltas: true };
