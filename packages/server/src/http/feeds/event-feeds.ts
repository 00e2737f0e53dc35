import type { IncomingHttpHeaders } from 'node:http';
import type { DeltaType, StreamEvent } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { isDatabaseAway } from '../../base/resource-error.ts';
import { inBackground } from '../../base/in-background.ts';
import type { SessionLog } from '../../log/log.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import type { Place } from '../../views/managed-agents/to-event.ts';
import { watchEvents } from '../../views/managed-agents/watch-events.ts';
import { findEvent } from '../../views/managed-agents/find-event.ts';
import type { CatchUp } from '../streams/catch-up.ts';
import { createEventEncoder, encodeWireEvent } from '../streams/sse/event-encoder.ts';
import type { EventStream } from '../streams/sse/event-stream.ts';
import { headOf } from './head-of.ts';

/** The sources of event streams. */
export interface EventFeedsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly catchUp: Pick<CatchUp, 'seen'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onError: (error: unknown) => void;
}

/** Which events to send to which stream. */
export interface FeedRequest {
  readonly session: SessionRecord;
  readonly place: Place;
  /** Whether the session has terminated, so that no more events follow. */
  readonly isOver: boolean;
  readonly previews: readonly DeltaType[];
  readonly headers: IncomingHttpHeaders;
  /** The position in the log of the first send whose events no stream has sent yet. */
  readonly caughtUp: number | undefined;
  readonly openStream: () => EventStream;
  readonly fail: (error: unknown) => void;
}

/** Streams of events, fed from the log. */
export interface EventFeeds {
  open(request: FeedRequest): Promise<EventStream>;
}

/** Creates the feeds of `/events` and `/stream`. */
export function createEventFeeds({ store, log, catchUp, clock, ids, onError }: EventFeedsOptions): EventFeeds {
  const encode = createEventEncoder();

  return {
    open: async (request) => {
      const { session, openStream } = request;
      // The head is read before the headers are sent: every later event is delivered.
      const head = await headOf(store, session.id);
      const after = (await findLastSeen(request)) ?? request.caughtUp ?? head;
      const stream = openStream();
      if (request.isOver && after >= head) stream.end();
      else
        inBackground(
          feed(request, after, stream).then(() => stream.end(), request.fail),
          onError,
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
        if (restSeq !== null && !signal.aborted) await noteSeen(session.id, restSeq);
      }
    } finally {
      // Also needed if a step other than reading the log has failed.
      await watched.return('ended');
    }
  }

  /** Only affects the start of a stream that is opened within seconds, so an outage of the database does not end this stream. */
  async function noteSeen(sessionId: string, seq: number): Promise<void> {
    try {
      await catchUp.seen(sessionId, seq);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      onError(error);
    }
  }

  function toDeleted(): StreamEvent & { id: string } {
    return { type: 'session.deleted', id: ids.next('sevt'), processed_at: new Date(clock.now()).toISOString() };
  }

  /** The frame of the event in `Last-Event-ID`, if the session has it. */
  async function findLastSeen({ session, headers }: FeedRequest): Promise<number | undefined> {
    const id = headers['last-event-id'];
    return typeof id === 'string' && id.startsWith('sevt_') ? await findEvent(store, session.id, id) : undefined;
  }
}
