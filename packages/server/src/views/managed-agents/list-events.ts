import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import type { SessionFrame } from '../../frames/frames.ts';
import type { Store } from '../../store/store.ts';
import { readBackward, readForward } from '../read-frames.ts';
import { type Place, toEvent } from './to-event.ts';

export interface ListEvents {
  readonly store: Pick<Store, 'read' | 'heads'>;
  readonly sessionId: string;
  readonly place: Place;
  /** Messages that wait to be taken up, as the record of the session names them. */
  readonly waitingIds: readonly string[];
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Where the page before ended. */
  readonly cursor: number | null;
  readonly isWanted: (event: SessionEvent) => boolean;
}

export interface EventPage {
  readonly events: readonly SessionEvent[];
  /** Null on the last page. */
  readonly next: number | null;
}

/** A page of what happened, as one reader sees it. What still waits to be taken up comes last, as if it were to come. */
export async function listEvents(request: ListEvents): Promise<EventPage> {
  const { limit, isWanted } = request;
  const page: Listed[] = [];
  for await (const listed of request.order === 'asc' ? ascending(request) : descending(request)) {
    if (!isWanted(listed.event)) continue;
    // One more than the page holds: only then there is a next one.
    if (page.length === limit) return { events: page.map(({ event }) => event), next: page.at(-1)!.cursor };
    page.push(listed);
  }
  return { events: page.map(({ event }) => event), next: null };
}

interface Listed {
  readonly event: SessionEvent;
  /** The number of its frame; of one that waits, how many before it wait, below zero. */
  readonly cursor: number;
}

async function* ascending(request: ListEvents): AsyncGenerator<Listed> {
  const { store, sessionId, cursor } = request;
  if (cursor === null || cursor > 0)
    yield* settled(request, readForward(store, sessionId, cursor ?? 0, undefined, SKIP));
  const after = cursor !== null && cursor < 0 ? -cursor : 0;
  yield* (await findWaiting(request)).slice(after);
}

async function* descending(request: ListEvents): AsyncGenerator<Listed> {
  const { store, sessionId, cursor } = request;
  const isAmongWaiting = cursor === null || cursor < 0;
  if (isAmongWaiting) {
    const waiting = await findWaiting(request);
    yield* waiting.slice(0, cursor === null ? waiting.length : -cursor - 1).toReversed();
  }
  yield* settled(request, readBackward(store, sessionId, isAmongWaiting ? null : cursor, SKIP));
}

/** Everything but what was queued: that is listed where it was taken up. */
async function* settled({ place }: ListEvents, frames: AsyncIterable<SessionFrame>): AsyncGenerator<Listed> {
  for await (const frame of frames) {
    const event = isQueued(frame) ? undefined : toEvent(frame, place);
    if (event !== undefined) yield { event, cursor: frame.seq };
  }
}

/** Reads backward: messages that wait are nearly always recent. */
async function findWaiting({ store, sessionId, place, waitingIds }: ListEvents): Promise<Listed[]> {
  const wanted = new Set(waitingIds);
  const found: SessionEvent[] = [];
  if (wanted.size === 0) return [];
  for await (const frame of readBackward(store, sessionId, null, SKIP)) {
    if (!isQueued(frame) || !wanted.delete(frame.payload.id)) continue;
    const event = toEvent(frame, place);
    if (event !== undefined) found.push(event);
    if (wanted.size === 0) break;
  }
  return found.toReversed().map((event, index) => ({ event, cursor: -(index + 1) }));
}

/** Lists have no deltas. */
const SKIP = { skipsDeltas: true };

type Queued = Extract<SessionFrame, { type: 'user.message' | 'system.message' }>;

function isQueued(frame: SessionFrame): frame is Queued {
  return (frame.type === 'user.message' || frame.type === 'system.message') && !frame.payload.is_processed;
}
