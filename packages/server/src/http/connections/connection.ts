import type { Socket } from 'node:net';
import { httpLimits } from '../limits.ts';
import type { Rank, Ranked } from './ranked-connections.ts';

/**
 * One connection with its requests. Pipelined requests are handled one after the other: Node emits `close` only for the
 * response that has the socket, so a later one would not notice that the client has left.
 */
export class Connection implements Ranked {
  readonly socket: Socket;
  readonly address: string | undefined;
  rank: Rank = 'unused';
  since: number;
  wasRead = false;
  /** Whether a request with a valid key was received on the connection. */
  isProven = false;
  /** Ends the request in progress. */
  onClose: (() => void) | undefined;
  #isBusy = false;
  #queue: (() => void)[] = [];
  #isPaused = false;
  #isWatched = false;

  constructor(socket: Socket, address: string | undefined, since: number) {
    this.socket = socket;
    this.address = address;
    this.since = since;
    // Node accepts many connections in one turn of the event loop, and reads from them in the next one.
    setImmediate(() => setImmediate(() => (this.wasRead = true)));
  }

  enqueue(start: () => void): void {
    if (this.#isBusy) {
      // Unread requests stay in the buffers of the client.
      if (this.#queue.push(start) >= httpLimits.pipelinedRequestsMax) this.#pause();
      return;
    }
    this.#isBusy = true;
    start();
  }

  /** Ends the current request and begins the next one in the queue. */
  next(): void {
    const start = this.#queue.shift();
    if (start === undefined) {
      this.#isBusy = false;
      this.#isWatched = false;
      return;
    }
    if (this.#queue.length === 0 && this.#isPaused) {
      this.#isPaused = false;
      this.socket.resume();
    }
    start();
  }

  close(): void {
    this.#queue = [];
    this.onClose?.();
  }

  watchStalled(stallMs: number): void {
    const { socket } = this;
    if (socket.writableLength > 0) {
      // The response, such as an event stream, has set its own timeout.
      if ((socket.timeout ?? 0) > 0) return;
      socket.setTimeout(stallMs);
      this.#isWatched = true;
    } else if (this.#isWatched) {
      // A client that has read all bytes so far may wait for the rest without a limit.
      socket.setTimeout(0);
      this.#isWatched = false;
    }
  }
  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.socket.pause();
  }
}
