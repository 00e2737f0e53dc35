import type { ServerResponse } from 'node:http';
import { httpLimits } from '../../limits.ts';

/** A stream of events to one reader. */
export interface EventStream {
  /** Aborted when the stream has ended on either side: its feed can stop. */
  readonly signal: AbortSignal;
  /**
   * Sends bytes of whole events. Returns false if the reader does not keep up: wait for `room` before sending more. A producer
   * that does not wait fills the buffer, and the reader is disconnected.
   */
  send(bytes: Uint8Array): boolean;
  /** Resolves when the reader has read the sent bytes, or has left. */
  room(): Promise<void>;
  /** Ends the stream after all sent bytes. */
  end(): void;
}

/** Why a stream has ended. `slow`: too many bytes were buffered; `stalled`: nothing was read for too long. */
export type StreamEnd = 'ended' | 'gone' | 'slow' | 'stalled';

/** The callbacks of the set of all streams. */
export interface EventStreamHooks {
  readonly bufferBytesMax: number;
  readonly stallMs: number;
  readonly steady: () => number;
  /** Schedules `flush` of this stream, together with all other streams that have bytes. */
  readonly flushSoon: (stream: OpenStream) => void;
  readonly onEnd: (stream: OpenStream, end: StreamEnd) => void;
}

/** An open stream, as the set of all streams sees it. */
export class OpenStream implements EventStream {
  readonly signal: AbortSignal;
  /** The time of the last write. */
  writtenAt: number;
  readonly #response: ServerResponse;
  readonly #hooks: EventStreamHooks;
  readonly #closing = new AbortController();
  #queue: Uint8Array[] = [];
  #queueBytes = 0;
  /** Whether the socket is full. Until it drains, bytes are buffered here, so that they can be counted. */
  #isFull = false;
  #end: StreamEnd | undefined;
  #waiting: (() => void)[] = [];

  /** Sends the headers at once: clients wait for them before they send the input whose events they want to see. */
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
    // A client that disconnects does not receive later events, and may have its next stream open before this one is
    // closed: missed events must be sent on that stream (SPEC H72).
    response.req.socket.once('end', () => this.#finish('gone'));
    // A failed write is followed by `close`.
    response.on('error', () => {});
    // Node restarts this timer with every read and write of the socket. It also runs after the end, until all bytes are sent.
    response.setTimeout(hooks.stallMs, () => this.#cut('stalled'));
    response.writeHead(200, STREAM_HEADERS);
    response.flushHeaders();
  }

  send(bytes: Uint8Array): boolean {
    if (this.#end !== undefined) return false;
    // Checked before the bytes are added: a single large event must pass.
    if (this.#waitingBytes() > this.#hooks.bufferBytesMax) {
      this.#cut('slow');
      return false;
    }
    if (this.#queue.length === 0 && !this.#isFull) this.#hooks.flushSoon(this);
    this.#queue.push(bytes);
    this.#queueBytes += bytes.length;
    // A feed that sends a long history in one tick would otherwise notice too late that the reader is behind.
    if (!this.#isFull && this.#queueBytes >= httpLimits.streamWriteBytesMax) this.flush();
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

  /** Whether the reader keeps up. Otherwise a ping would only queue behind unread bytes. */
  get isIdle(): boolean {
    return this.#end === undefined && !this.#isFull && this.#queue.length === 0;
  }

  /** Writes everything sent since the last flush at once. */
  flush(join: Join = joinAlone): void {
    if (this.#queue.length === 0 || this.#isFull || this.#end !== undefined) return;
    const bytes = this.#queue.length === 1 ? this.#queue[0]! : join(this.#queue);
    this.#queue = [];
    this.#queueBytes = 0;
    this.writtenAt = this.#hooks.steady();
    if (!this.#response.write(bytes)) this.#isFull = true;
  }

  /** Bytes that were sent but not written. The buffer of a socket that is not full is small, and not counted. */
  #waitingBytes(): number {
    return this.#queueBytes + (this.#isFull ? this.#response.writableLength : 0);
  }

  #drained(): void {
    this.#isFull = false;
    this.flush();
    if (!this.#isFull) this.#wake();
  }

  /** Destroys the connection instead of ending it, so that the client notices that events are missing. */
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

/** Joins several pieces of bytes. */
export type Join = (pieces: readonly Uint8Array[]) => Uint8Array;

const joinAlone: Join = (pieces) => Buffer.concat(pieces);

/** Joins pieces once for all streams that are flushed together with the same pieces. */
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

/** Proxies must not buffer, change or compress events. */
const STREAM_HEADERS = {
  // No request follows a stream, and Node closes the connection once everything is written.
  connection: 'close',
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
