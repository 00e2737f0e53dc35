import type { IncomingHttpHeaders } from 'node:http';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { Clock } from '../../base/clock.ts';
import { inBackground } from '../../base/in-background.ts';
import type { SessionLog } from '../../log/log.ts';
import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import type { EncodedEvent } from '../../views/fleet/encoded-event.ts';
import { FleetChannels } from '../../views/fleet/fleet-channels.ts';
import { parseToken } from '../../views/fleet/fleet-token.ts';
import type { FleetViewOptions } from '../../views/fleet/fleet-view.ts';
import { LOG_START, afterFrame, isAfter, parseCursor, type FleetCursor } from '../../views/fleet/fleet-cursor.ts';
import { SessionChanges } from '../../views/sessions/session-changes.ts';
import { watchEverything } from '../../views/fleet/watch-everything.ts';
import { readFleet, watchFleet } from '../../views/fleet/watch-fleet.ts';
import { requestError } from '../../base/request-error.ts';
import type { FleetQuery } from '../schemas/fleet.ts';
import type { RouteRequest } from '../routing/route.ts';
import type { EventStream } from '../streams/sse/event-stream.ts';
import { headOf } from './head-of.ts';

/** The sources of fleet streams. */
export interface FleetFeedsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly schedule?: Schedule;
  /** Called when a reader had to read a long log: a checkpoint would help. */
  readonly onLong?: ((sessionId: string, seen: number) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/** The options of a reader for a fleet stream, and the response that the stream is written to. */
export interface FeedRequest {
  readonly query: Omit<FleetQuery, 'after'> & { readonly after?: string };
  readonly headers: IncomingHttpHeaders;
  readonly openStream: RouteRequest['openStream'];
}

/** A request for the fleet stream of one session. */
export interface SessionFeedRequest extends FeedRequest {
  readonly sessionId: string;
  /** Limits the stream to this run. */
  readonly run?: WatchedRun;
}

/** Limits a stream to one run of its session. */
export interface WatchedRun {
  /** The id of the run; null: the next run that begins. */
  readonly id: string | null;
  /** The `seq` of the frame before the first one of the run. */
  readonly before: number;
  /** The `seq` of the last frame of the run; null while it is open. */
  readonly last: number | null;
}

/** Fleet streams, fed from the log. The client that started a run reads it like every other client. */
export interface FleetFeeds {
  open(request: SessionFeedRequest): Promise<EventStream>;
  /** Opens a stream of all sessions of a workspace. */
  openAll(request: FeedRequest & { readonly workspaceId: string }): EventStream;
}

/** Creates the feeds of the fleet routes. */
export function createFleetFeeds(options: FleetFeedsOptions): FleetFeeds {
  const { store, log, clock, schedule = systemSchedule, onLong, onError } = options;
  const channels = new FleetChannels({ store, log, onLong });
  const changes = new SessionChanges({ store, clock, schedule, onError });

  return {
    open: async (request) => {
      const { sessionId, openStream } = request;
      const head = await headOf(store, sessionId);
      const after = findCursor(request, head);
      const stream = openStream({ beats: 'comments' });
      inBackground(
        feed(request, after, stream).finally(() => stream.end()),
        onError,
      );
      return stream;
    },

    openAll: ({ workspaceId, query, headers, openStream }) => {
      const known = lastSeen(headers, query);
      const token = known === undefined ? null : parseToken(known);
      if (token === undefined) throw badCursor('is not an id of this stream');
      const stream = openStream({ beats: 'comments' });
      const view = toView(query);
      const hasRows = query.follow && query.include.includes('sessions');
      const leave = hasRows ? changes.subscribe(workspaceId, (bytes) => stream.send(bytes)) : () => {};
      const flow = { isLive: query.from === 'live', isFollowed: query.follow };
      const watched = watchEverything({
        channels,
        workspaceId,
        options: view,
        token,
        ...flow,
        clock,
        schedule,
        sink: stream,
        onError,
      });
      inBackground(
        watched.finally(() => {
          leave();
          stream.end();
        }),
        onError,
      );
      return stream;
    },
  };

  async function feed(
    { sessionId, query, run }: SessionFeedRequest,
    after: FleetCursor,
    stream: EventStream,
  ): Promise<void> {
    const request = { channels, sessionId, options: toView(query), after };
    const isFollowed = query.follow && (run === undefined || run.last === null);
    const events = isFollowed ? watchFleet({ ...request, signal: stream.signal }) : readFleet(request);
    try {
      while (true) {
        const step = await events.next();
        if (step.done === true) {
          if (step.value === 'deleted') stream.send(OVER);
          return;
        }
        if (await give(step.value, stream, run)) return;
      }
    } finally {
      await events.return('ended');
    }
  }
}

/** Sends the events of one frame. Returns true after the last event of the watched run. */
async function give(
  events: readonly EncodedEvent[],
  stream: EventStream,
  run: WatchedRun | undefined,
): Promise<boolean> {
  for (const { bytes, type, requestId, seq } of events) {
    // The reader has already received the last event of the run.
    if (run !== undefined && run.last !== null && seq > run.last) return true;
    const hasRoom = stream.send(bytes);
    if (type === 'done' && run !== undefined && (run.id ?? requestId) === requestId) return true;
    if (!hasRoom) await stream.room();
  }
  return false;
}

function findCursor({ query, headers, run }: SessionFeedRequest, head: number): FleetCursor {
  const known = lastSeen(headers, query);
  const start = run === undefined ? LOG_START : afterFrame(run.before);
  if (known === undefined) return query.from === 'live' ? afterFrame(head) : start;
  const place = parseCursor(known);
  if (place === undefined) throw badCursor('is not the id of an event of this stream');
  if (place.seq > head) throw badCursor(`${known} is ahead of the stream`);
  return isAfter(place, start) ? place : start;
}

/** The header wins over the query: clients send it when they reconnect. */
function lastSeen(headers: IncomingHttpHeaders, { after }: FeedRequest['query']): string | undefined {
  const header = headers['last-event-id'];
  return typeof header === 'string' && header !== '' ? header : after;
}

function badCursor(problem: string) {
  const advice = 'start again without a cursor, or use a cursor from this stream';
  return requestError('invalid_request', `after: ${problem}`, { advice });
}

function toView({ gate, include }: FeedRequest['query']): FleetViewOptions {
  return { gate, includeThinking: include.includes('thinking') };
}

const OVER = Buffer.from(
  encodeEvent({ event: 'over', data: JSON.stringify({ cursor: '', reason: 'the session was deleted' }) }),
);
