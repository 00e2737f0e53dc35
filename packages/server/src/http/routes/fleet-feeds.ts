import type { IncomingHttpHeaders } from 'node:http';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { Clock } from '../../base/clock.ts';
import { inBackground } from '../../base/in-background.ts';
import type { SessionLog } from '../../store/log.ts';
import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import type { EncodedEvent } from '../../views/fleet/encoded-event.ts';
import { FleetChannels } from '../../views/fleet/fleet-channels.ts';
import { parseToken } from '../../views/fleet/fleet-token.ts';
import type { FleetViewOptions } from '../../views/fleet/fleet-view.ts';
import { BEGINNING, behindFrame, isBehind, parseCursor, type Place } from '../../views/fleet/place.ts';
import { watchEverything } from '../../views/fleet/watch-everything.ts';
import { readFleet, watchFleet } from '../../views/fleet/watch-fleet.ts';
import { doorError } from '../door-error.ts';
import type { FleetQuery } from '../schemas/fleet.ts';
import type { RouteRequest } from '../route.ts';
import type { EventStream } from '../sse/event-stream.ts';

export interface FleetFeedsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly schedule?: Schedule;
  /** A reader folded a long log. */
  readonly onLong?: ((sessionId: string, seen: number) => void) | undefined;
  readonly onMishap: (error: unknown) => void;
}

export interface FeedRequest {
  readonly query: Omit<FleetQuery, 'after'> & { readonly after?: string };
  readonly headers: IncomingHttpHeaders;
  readonly openStream: RouteRequest['openStream'];
}

export interface SessionFeedRequest extends FeedRequest {
  readonly sessionId: string;
  /** Only this run. */
  readonly run?: WatchedRun;
}

export interface WatchedRun {
  /** Null: whichever comes first. */
  readonly id: string | null;
  /** The frame before its first one. */
  readonly before: number;
  /** Its last frame, if it is over. */
  readonly last: number | null;
}

/** Fleet streams, fed from the log: the first reader is one like all others. */
export interface FleetFeeds {
  open(request: SessionFeedRequest): Promise<EventStream>;
  /** All sessions of a workspace. */
  openAll(request: FeedRequest & { readonly workspaceId: string }): EventStream;
}

export function createFleetFeeds(options: FleetFeedsOptions): FleetFeeds {
  const { store, log, clock, schedule = systemSchedule, onLong, onMishap } = options;
  const channels = new FleetChannels({ store, log, onLong });

  return {
    open: async (request) => {
      const { sessionId, openStream } = request;
      const head = (await store.heads([sessionId])).get(sessionId) ?? 0;
      const after = findPlace(request, head);
      const stream = openStream({ beats: 'comments' });
      inBackground(
        feed(request, after, stream).finally(() => stream.end()),
        onMishap,
      );
      return stream;
    },

    openAll: ({ workspaceId, query, headers, openStream }) => {
      const known = lastSeen(headers, query);
      const token = known === undefined ? null : parseToken(known);
      if (token === undefined) throw badCursor('is no id of this stream');
      const stream = openStream({ beats: 'comments' });
      const view = toView(query);
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
        onMishap,
      });
      inBackground(
        watched.finally(() => stream.end()),
        onMishap,
      );
      return stream;
    },
  };

  async function feed({ sessionId, query, run }: SessionFeedRequest, after: Place, stream: EventStream): Promise<void> {
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

/** True behind the last event of the run that is watched. */
async function give(
  events: readonly EncodedEvent[],
  stream: EventStream,
  run: WatchedRun | undefined,
): Promise<boolean> {
  for (const { bytes, type, requestId, seq } of events) {
    // The reader has had its last event already.
    if (run !== undefined && run.last !== null && seq > run.last) return true;
    const hasRoom = stream.send(bytes);
    if (type === 'done' && run !== undefined && (run.id ?? requestId) === requestId) return true;
    if (!hasRoom) await stream.room();
  }
  return false;
}

function findPlace({ query, headers, run }: SessionFeedRequest, head: number): Place {
  const known = lastSeen(headers, query);
  const start = run === undefined ? BEGINNING : behindFrame(run.before);
  if (known === undefined) return query.from === 'live' ? behindFrame(head) : start;
  const place = parseCursor(known);
  if (place === undefined) throw badCursor('is no id of an event of this stream');
  if (place.seq > head) throw badCursor(`${known} is ahead of the stream`);
  return isBehind(place, start) ? place : start;
}

/** The header goes first: that is what a client sends which has lost its connection. */
function lastSeen(headers: IncomingHttpHeaders, { after }: FeedRequest['query']): string | undefined {
  const header = headers['last-event-id'];
  return typeof header === 'string' && header !== '' ? header : after;
}

function badCursor(problem: string) {
  const advice = 'start again without a cursor, or use one that this stream gave';
  return doorError('invalid_request', `after: ${problem}`, { advice });
}

function toView({ gate, include }: FeedRequest['query']): FleetViewOptions {
  return { gate, includeThinking: include.includes('thinking') };
}

const OVER = Buffer.from(
  encodeEvent({ event: 'over', data: JSON.stringify({ cursor: '', reason: 'the session was deleted' }) }),
);
