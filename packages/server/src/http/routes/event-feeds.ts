import type { IncomingHttpHeaders } from 'node:http';
import type { DeltaType, StreamEvent } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { inBackground } from '../../base/in-background.ts';
import type { SessionLog } from '../../store/log.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import type { Place } from '../../views/managed-agents/to-event.ts';
import { watchEvents } from '../../views/managed-agents/watch-events.ts';
import { findEvent } from '../../views/managed-agents/find-event.ts';
import type { CatchUp } from '../catch-up.ts';
import { createEventEncoder, encodeWireEvent } from '../sse/event-encoder.ts';
import type { EventStream } from '../sse/event-stream.ts';
import { headOf } from './read-session.ts';

export interface EventFeedsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly catchUp: Pick<CatchUp, 'seen'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onMishap: (error: unknown) => void;
}

export interface FeedRequest {
  readonly session: SessionRecord;
  readonly place: Place;
  /** Nothing comes any more. */
  readonly isOver: boolean;
  readonly previews: readonly DeltaType[];
  readonly headers: IncomingHttpHeaders;
  /** Where a send was that nobody has watched. */
  readonly caughtUp: number | undefined;
  readonly openStream: () => EventStream;
  readonly fail: (error: unknown) => void;
}

/** Streams of events, fed from the log. */
export interface EventFeeds {
  open(request: FeedRequest): Promise<EventStream>;
}

export function createEventFeeds({ store, log, catchUp, clock, ids, onMishap }: EventFeedsOptions): EventFeeds {
  const encode = createEventEncoder();

  return {
    open: async (request) => {
      const { session, openStream } = request;
      // Known before the headers go out: what happens from then on is seen.
      const head = await headOf(store, session.id);
      const after = (await findLastSeen(request)) ?? request.caughtUp ?? head;
      const stream = openStream();
      if (request.isOver && after >= head) stream.end();
      else
        inBackground(
          feed(request, after, stream).then(() => stream.end(), request.fail),
          onMishap,
        );
      return stream;
    },
  };

  async function feed({ session, place, previews }: FeedRequest, after: number, stream: EventStream): Promise<void> {
    const { signal } = stream;
    const watched = watchEvents({ log, sessionId: session.id, place, after, previews: new Set(previews), signal });
    try {
      while (true) {
        const step = await watched.next();
        if (step.done === true) {
          if (step.value === 'deleted') stream.send(encodeWireEvent(toDeleted()));
          return;
        }
        const { events, restSeq } = step.value;
        for (const event of events) if (!stream.send(encode(event))) await stream.room();
        if (restSeq !== null && !signal.aborted) await catchUp.seen(session.id, restSeq);
      }
    } finally {
      // Also when another step than reading the log has failed.
      await watched.return('ended');
    }
  }

  function toDeleted(): StreamEvent & { id: string } {
    return { type: 'session.deleted', id: ids.next('sevt'), processed_at: new Date(clock.now()).toISOString() };
  }

  /** The frame of the event that the reader saw last, if it says which and that is known. */
  async function findLastSeen({ session, headers }: FeedRequest): Promise<number | undefined> {
    const id = headers['last-event-id'];
    return typeof id === 'string' && id.startsWith('sevt_') ? await findEvent(store, session.id, id) : undefined;
  }
}
