import type { ServerResponse } from 'node:http';
import { limits } from '../../base/limits.ts';

/** Events on their way to one reader. */
export interface EventStream {
  /** Aborted when the stream is over, whoever ended it: whatever feeds it can stop. */
  readonly signal: AbortSignal;
  /**
   * Gives bytes of whole events to the reader. False: it does not keep up, so wait for `room` before giving more. Who does
   * not wait fills the buffer, and then the reader is cut off.
   */
  send(bytes: Uint8Array): boolean;
  /** Until the reader has taken what was given, or is gone. */
  room(): Promise<void>;
  /** The end, after everything that was given. */
  end(): void;
}

/** Why a stream is over. `slow`: too much waited; `stalled`: nothing was taken for too long. */
export type StreamEnd = 'ended' | 'gone' | 'slow' | 'stalled';

export interface EventStreamHooks {
  readonly bufferBytesMax: number;
  readonly stallMs: number;
  readonly steady: () => number;
  /** Calls `flush` of this stream soon, once for all streams that have something. */
  readonly flushSoon: (stream: OpenStream) => void;
  readonly onEnd: (stream: OpenStream, end: StreamEnd) => void;
}

/** A stream with what its keeper needs beside what feeds it. */
export class OpenStream implements EventStream {
  readonly signal: AbortSignal;
  /** When something was written last. */
  writtenAt: number;
  readonly #response: ServerResponse;
  readonly #hooks: EventStreamHooks;
  readonly #closing = new AbortController();
  #queue: Uint8Array[] = [];
  #queueBytes = 0;
  /** The socket is full. Until it has drained nothing more is written, so that what waits can be counted here. */
  #isFull = false;
  #end: StreamEnd | undefined;
  #waiting: (() => void)[] = [];

  /** Sends the headers at once: clients wait for them before they send what the stream is to show. */
  constructor(response: ServerResponse, hooks: EventStreamHooks) {
    this.#response = response;
    this.#hooks = hooks;
    this.signal = this.#closing.signal;
    this.writtenAt = hooks.steady();
    // The client may have left before the stream was opened. Then `close` was emitted already.
    if (response.destroyed || response.req.socket.destroyed) {
      this.#end = 'gone';
      this.#closing.abort();
      response.destroy();
      return;
    }
    response.on('drain', () => this.#drained());
    response.on('close', () => this.#finish('gone'));
    // Whoever hangs up has seen nothing of what comes from now on, and may have a next stream open before this one is
    // closed: what it missed has to be told there (SPEC H72).
    response.req.socket.once('end', () => this.#finish('gone'));
    // What cannot be written any more is followed by `close`.
    response.on('error', () => {});
    // Node restarts this clock whenever the socket takes or brings something.
    // Also after the end, as long as some of it waits.
    response.setTimeout(hooks.stallMs, () => this.#cut('stalled'));
    response.writeHead(200, STREAM_HEADERS);
    response.flushHeaders();
  }

  send(bytes: Uint8Array): boolean {
    if (this.#end !== undefined) return false;
    // Looked at before adding: one large event alone has to pass.
    if (this.#waitingBytes() > this.#hooks.bufferBytesMax) {
      this.#cut('slow');
      return false;
    }
    if (this.#queue.length === 0 && !this.#isFull) this.#hooks.flushSoon(this);
    this.#queue.push(bytes);
    this.#queueBytes += bytes.length;
    // Whoever gives a long history in one tick would otherwise hear too late that the reader is behind, and cut it off.
    if (!this.#isFull && this.#queueBytes >= limits.streamWriteBytesMax) this.flush();
    return !this.#isFull;
  }

  room(): Promise<void> {
    if (this.#end !== undefined || !this.#isFull) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    if (this.#end !== undefined) return;
    this.#isFull = false;
    this.flush();
    this.#response.end();
    this.#finish('ended');
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Whether the reader keeps up. A ping would only queue behind what it has not read. */
  get isIdle(): boolean {
    return this.#end === undefined && !this.#isFull && this.#queue.length === 0;
  }

  /** Everything that was given since the last time, as one write. */
  flush(join: Join = joinAlone): void {
    if (this.#queue.length === 0 || this.#isFull || this.#end !== undefined) return;
    const bytes = this.#queue.length === 1 ? this.#queue[0]! : join(this.#queue);
    this.#queue = [];
    this.#queueBytes = 0;
    this.writtenAt = this.#hooks.steady();
    if (!this.#response.write(bytes)) this.#isFull = true;
  }

  /** What was given and has not left. As long as the socket is not full, what it holds is not worth counting. */
  #waitingBytes(): number {
    return this.#queueBytes + (this.#isFull ? this.#response.writableLength : 0);
  }

  #drained(): void {
    this.#isFull = false;
    this.flush();
    if (!this.#isFull) this.#wake();
  }

  /** Not an orderly end, so that the client sees that something is missing. */
  #cut(end: StreamEnd): void {
    this.#finish(end);
    this.#response.destroy();
  }

  #finish(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#queue = [];
    this.#queueBytes = 0;
    this.#closing.abort();
    this.#wake();
    this.#hooks.onEnd(this, end);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Makes one piece of several. */
export type Join = (pieces: readonly Uint8Array[]) => Uint8Array;

const joinAlone: Join = (pieces) => Buffer.concat(pieces);

/** For streams that are written one after the other: most of them were given the same, and get the same bytes. */
export function createSharedJoin(): Join {
  let known: readonly Uint8Array[] = [];
  let joined: Uint8Array = Buffer.alloc(0);
  return (pieces) => {
    const isKnown = pieces.length === known.length && pieces.every((piece, index) => piece === known[index]);
    if (isKnown) return joined;
    known = pieces;
    joined = Buffer.concat(pieces);
    return joined;
  };
}

/** Nothing on the way may hold back, change or compress events. */
const STREAM_HEADERS = {
  // There is no second request after a stream. It also lets Node close the connection once everything has left.
  connection: 'close',
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
