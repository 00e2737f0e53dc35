import type { ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import { encodeComment } from '@fleetloom/protocol/sse';
import { doorError } from '../door-error.ts';
import { encodeWireEvent } from './event-encoder.ts';
import { createSharedJoin, type EventStream, OpenStream, type StreamEnd } from './event-stream.ts';

/** All open streams of a server: one heartbeat and one flush for all of them. */
export interface EventStreams {
  /** Answers with a stream. `key`: whose it is, because each has its share. */
  open(response: ServerResponse, key: string, form?: StreamForm): EventStream;
  readonly count: number;
  /** Says good-bye: every stream ends, with a hint when to come back. No more are opened. */
  drain(): void;
}

export interface StreamForm {
  /** What a heartbeat is: an event, as the clients of the Managed Agents API want it, or a comment, which all others skip. */
  readonly beats?: 'events' | 'comments';
}

export interface EventStreamsOptions {
  readonly clock?: Clock | undefined;
  readonly schedule?: Schedule | undefined;
  /**
   * When to write what was given in this tick. Unless told otherwise right behind it: the next commit would come first if
   * it waited for another turn of the loop, and that takes as long as the disk does.
   */
  readonly defer?: ((run: () => void) => void) | undefined;
  readonly bufferBytesMax?: number | undefined;
  readonly stallMs?: number | undefined;
  readonly perKeyMax?: number | undefined;
  readonly onEnd?: ((end: StreamEnd) => void) | undefined;
}

export function createEventStreams(options: EventStreamsOptions = {}): EventStreams {
  const { clock = systemClock, schedule = systemSchedule, defer = queueTick, onEnd } = options;
  const { bufferBytesMax = limits.streamBufferBytesMax, stallMs = limits.streamStallMs } = options;
  const { perKeyMax = limits.streamsPerKeyMax } = options;
  const placeOf = new Map<OpenStream, { readonly key: string; readonly words: Words }>();
  const countOf = new Map<string, number>();
  let dirty: OpenStream[] = [];
  let stopBeating: Cancel | undefined;
  let isDraining = false;

  return {
    open,
    get count() {
      return placeOf.size;
    },
    drain: () => {
      isDraining = true;
      for (const [stream, { words }] of placeOf) {
        stream.send(words.goodBye);
        stream.end();
      }
    },
  };

  function open(response: ServerResponse, key: string, { beats = 'events' }: StreamForm = {}): EventStream {
    if (isDraining) throw doorError('shutting_down', 'the server stops');
    const count = countOf.get(key) ?? 0;
    if (count >= perKeyMax) throw doorError('too_many_streams', `this key has ${count} open streams`);
    const hooks = { bufferBytesMax, stallMs, steady: clock.steady, flushSoon, onEnd: forget };
    const stream = new OpenStream(response, hooks);
    if (stream.isOver) return stream;
    placeOf.set(stream, { key, words: WORDS[beats] });
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

  /** Twice as often as a ping is due: whoever was silent for one beat gets it at the next. */
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
    const { key } = placeOf.get(stream)!;
    placeOf.delete(stream);
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

const BEAT_MS = limits.streamPingMs / 2;

interface Words {
  /** Goes out with the headers: some clients and proxies take a stream for open only when something has come. */
  readonly hello?: Uint8Array;
  readonly ping: Uint8Array;
  /** Says when to come back. */
  readonly goodBye: Uint8Array;
}

const WORDS: Readonly<Record<'events' | 'comments', Words>> = {
  // Official clients skip pings; others learn from the last one when to come back.
  events: { ping: encodeWireEvent({ type: 'ping' }), goodBye: encodeWireEvent({ type: 'ping' }, limits.streamRetryMs) },
  comments: {
    hello: Buffer.from(encodeComment('open')),
    ping: Buffer.from(encodeComment('ping')),
    goodBye: Buffer.from(`retry: ${limits.streamRetryMs}\n\n`),
  },
};
