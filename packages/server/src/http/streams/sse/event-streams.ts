import type { ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { httpLimits } from '../../limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../../base/schedule.ts';
import { encodeComment } from '@fleetloom/protocol/sse';
import { requestError } from '../../../base/request-error.ts';
import { encodeWireEvent } from './event-encoder.ts';
import { createSharedJoin, type EventStream, OpenStream, type StreamEnd } from './event-stream.ts';

/** All open streams of a server: one heartbeat and one flush for all of them. */
export interface EventStreams {
  /** Opens a stream as the response. `key` is counted against its limit of streams. */
  open(response: ServerResponse, key: string, form?: StreamForm & StreamOrigin): EventStream;
  readonly count: number;
  /** The number of open streams by the route that opened them; 0 for a route whose streams have all ended. */
  readonly countByRoute: ReadonlyMap<string, number>;
  /** Ends every stream with a reconnect delay, and rejects new ones. */
  drain(): void;
}

/** How a stream keeps its connection alive. */
export interface StreamForm {
  /** Whether pings are events, as clients of the Managed Agents API expect, or comments, which other clients skip. */
  readonly beats?: 'events' | 'comments';
}

/** The origin of a stream. */
interface StreamOrigin {
  readonly route?: string | undefined;
}

/** Limits and clock of the streams. */
export interface EventStreamsOptions {
  readonly clock?: Clock | undefined;
  readonly schedule?: Schedule | undefined;
  /**
   * Schedules the write of the bytes of one tick, by default right after the tick: in the next turn of the event loop, the next
   * commit would come first, which waits for the disk.
   */
  readonly defer?: ((run: () => void) => void) | undefined;
  readonly bufferBytesMax?: number | undefined;
  readonly stallMs?: number | undefined;
  readonly perKeyMax?: number | undefined;
  readonly onEnd?: ((end: StreamEnd) => void) | undefined;
}

/** Creates the set of open streams of a server. */
export function createEventStreams(options: EventStreamsOptions = {}): EventStreams {
  const { clock = systemClock, schedule = systemSchedule, defer = queueTick, onEnd } = options;
  const { bufferBytesMax = httpLimits.streamBufferBytesMax, stallMs = httpLimits.streamStallMs } = options;
  const { perKeyMax = httpLimits.streamsPerKeyMax } = options;
  const placeOf = new Map<OpenStream, { readonly key: string; readonly route: string; readonly words: Words }>();
  const countOf = new Map<string, number>();
  const countByRoute = new Map<string, number>();
  let dirty: OpenStream[] = [];
  let stopBeating: Cancel | undefined;
  let isDraining = false;

  return {
    open,
    get count() {
      return placeOf.size;
    },
    countByRoute,
    drain: () => {
      isDraining = true;
      for (const [stream, { words }] of placeOf) {
        stream.send(words.goodBye);
        stream.end();
      }
    },
  };

  function open(
    response: ServerResponse,
    key: string,
    { beats = 'events', route = 'none' }: StreamForm & StreamOrigin = {},
  ): EventStream {
    if (isDraining) throw requestError('shutting_down', 'the server is shutting down');
    const count = countOf.get(key) ?? 0;
    if (count >= perKeyMax) throw requestError('too_many_streams', `this key has ${count} open streams`);
    const hooks = { bufferBytesMax, stallMs, steady: clock.steady, flushSoon, onEnd: forget };
    const stream = new OpenStream(response, hooks);
    if (stream.isOver) return stream;
    placeOf.set(stream, { key, route, words: WORDS[beats] });
    countByRoute.set(route, (countByRoute.get(route) ?? 0) + 1);
    if (WORDS[beats].hello !== undefined) stream.send(WORDS[beats].hello);
    countOf.set(key, count + 1);
    stopBeating ??= schedule(beat, BEAT_MS);
    return stream;
  }

  function flushSoon(stream: OpenStream): void {
    if (dirty.push(stream) > 1) return;
    defer(() => {
      const streams = dirty;
      dirty = [];
      const join = createSharedJoin();
      for (const each of streams) each.flush(join);
    });
  }

  /** Runs twice per ping interval: a stream that was silent for one beat gets a ping at the next. */
  function beat(): void {
    const due = clock.steady() - BEAT_MS;
    for (const [stream, { words }] of placeOf) {
      if (!stream.isIdle || stream.writtenAt > due) continue;
      stream.send(words.ping);
      stream.flush();
    }
    stopBeating = schedule(beat, BEAT_MS);
  }

  function forget(stream: OpenStream, end: StreamEnd): void {
    const { key, route } = placeOf.get(stream)!;
    placeOf.delete(stream);
    countByRoute.set(route, countByRoute.get(route)! - 1);
    const count = countOf.get(key)! - 1;
    if (count === 0) countOf.delete(key);
    else countOf.set(key, count);
    if (placeOf.size === 0) {
      stopBeating?.();
      stopBeating = undefined;
    }
    onEnd?.(end);
  }
}

function queueTick(run: () => void): void {
  process.nextTick(run);
}

const BEAT_MS = httpLimits.streamPingMs / 2;

interface Words {
  /** Bytes sent with the headers: some clients and proxies consider a stream open only after its first byte. */
  readonly hello?: Uint8Array;
  readonly ping: Uint8Array;
  /** The last bytes of a stream, with the reconnect delay. */
  readonly goodBye: Uint8Array;
}

const WORDS: Readonly<Record<'events' | 'comments', Words>> = {
  // Official clients ignore pings; other clients read the reconnect delay from the last one.
  events: {
    ping: encodeWireEvent({ type: 'ping' }),
    goodBye: encodeWireEvent({ type: 'ping' }, httpLimits.streamRetryMs),
  },
  comments: {
    hello: Buffer.from(encodeComment('open')),
    ping: Buffer.from(encodeComment('ping')),
    goodBye: Buffer.from(`retry: ${httpLimits.streamRetryMs}\n\n`),
  },
};
