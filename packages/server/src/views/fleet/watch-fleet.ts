import { ChangeWaiter } from '../../log/change-waiter.ts';
import type { EncodedEvent } from './encoded-event.ts';
import type { FleetChannels } from './fleet-channels.ts';
import { OwnFold } from './fleet-fold.ts';
import type { FleetViewOptions } from './fleet-view.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { afterFrame, isAfter, type FleetCursor } from './fleet-cursor.ts';

/** The session to follow, from a cursor on. */
export interface WatchFleet {
  readonly channels: FleetChannels;
  readonly sessionId: string;
  readonly options: FleetViewOptions;
  /** The reader's cursor. */
  readonly after: FleetCursor;
  readonly signal: AbortSignal;
  /** All events of the frames up to this one were yielded. */
  readonly onQuiet?: ((seq: number) => void) | undefined;
}

/** The fleet events of a session behind a cursor, in batches, and then new ones until the session or the reader ends. */
export async function* watchFleet(request: WatchFleet): AsyncGenerator<readonly EncodedEvent[], 'ended' | 'deleted'> {
  const { channels, sessionId, options, after, signal, onQuiet } = request;
  const channel = channels.enter(sessionId, options);
  const waiter = new ChangeWaiter(signal);
  let cursor = after;
  let own: OwnFold | undefined;
  try {
    while (!signal.aborted) {
      const shared = channel.select(cursor);
      if (shared?.length === 0 || (shared === undefined && !channel.isReady)) {
        own = undefined;
        if (channel.end !== undefined) return toEnd(channel.end);
        if (shared !== undefined && channel.isCurrent) onQuiet?.(channel.seq);
        await waiter.changed(channel.wakeUps);
        continue;
      }
      if (shared !== undefined) {
        own = undefined;
        cursor = shared.at(-1)!;
        yield shared;
        continue;
      }
      // Too far behind for the shared channel: the reader folds the log on its own until it has caught up.
      own ??= await OwnFold.begin({ store: channels.store, sessionId, options, onLong: channels.onLong }, cursor);
      const events = await own.next();
      if (isAfter(own.cursor, cursor)) cursor = own.cursor;
      if (events !== undefined && events.length > 0) yield events;
    }
    return 'ended';
  } catch (error) {
    if (isStoreError(error, 'not_found')) return 'deleted';
    throw error;
  } finally {
    waiter.close();
    channels.leave(sessionId, options, channel);
  }
}

/** Like `watchFleet`, up to the present head of the log. */
export async function* readFleet(
  request: Omit<WatchFleet, 'signal'>,
): AsyncGenerator<readonly EncodedEvent[], 'ended' | 'deleted'> {
  const { channels, sessionId, options, after, onQuiet } = request;
  const { store, onLong } = channels;
  try {
    const head = (await store.heads([sessionId])).get(sessionId);
    if (head === undefined) return 'deleted';
    const own = await OwnFold.begin({ store, sessionId, options, onLong }, after);
    while (isAfter(afterFrame(head), own.cursor)) {
      const events = await own.next(head);
      if (events === undefined) break;
      if (events.length > 0) yield events;
    }
    onQuiet?.(head);
    return 'ended';
  } catch (error) {
    if (isStoreError(error, 'not_found')) return 'deleted';
    throw error;
  }
}

function toEnd(end: 'deleted' | 'closed' | { readonly error: unknown }): 'ended' | 'deleted' {
  if (typeof end === 'object') throw end.error;
  return end === 'deleted' ? 'deleted' : 'ended';
}
