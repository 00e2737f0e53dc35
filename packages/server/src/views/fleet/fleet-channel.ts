import { WakeUps } from '../../log/change-waiter.ts';
import { logLimits } from '../../log/limits.ts';
import { viewLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Entry } from '../../store/frame.ts';
import type { SessionLog } from '../../log/log.ts';
import { cutBehind, type EncodedEvent } from './encoded-event.ts';
import { FleetFold, type FoldRequest } from './fleet-fold.ts';
import { afterFrame, isAfter, type FleetCursor } from './fleet-cursor.ts';

export interface ChannelRequest extends FoldRequest {
  readonly log: Pick<SessionLog, 'tail'>;
  /** Called with the change in the number of bytes that the channel keeps. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * The fleet events of a session, folded and encoded once for all readers with the same options. It keeps the newest events. Readers
 * pull, and a reader that is further behind reads the log on its own, so the channel never waits for a reader.
 */
export class FleetChannel {
  /** Why the channel ended. */
  end: 'deleted' | 'closed' | { readonly error: unknown } | undefined;
  readonly #request: ChannelRequest;
  readonly #leaving = new AbortController();
  #events: EncodedEvent[] = [];
  #bytes = 0;
  /** The last frame that was folded. */
  seq = 0;
  /** The head of the log when the channel was opened. */
  #head = Number.POSITIVE_INFINITY;
  /** The channel has, or will have, all events behind this cursor. Undefined until folding begins. */
  #floor: FleetCursor | undefined;
  /** Callbacks of readers that wait for more. */
  readonly wakeUps = new WakeUps();

  constructor(request: ChannelRequest) {
    this.#request = request;
    this.#run().then(
      (end) => this.#finish(end),
      (error: unknown) => this.#finish({ error }),
    );
  }

  /** The next events behind a cursor; empty if there are none yet. Undefined: the channel does not have them any more, or not yet. */
  select(after: FleetCursor): readonly EncodedEvent[] | undefined {
    if (this.#floor === undefined || isAfter(this.#floor, after)) return undefined;
    const from = findFirst(this.#events, after);
    let to = from;
    for (let bytes = 0; to < this.#events.length && bytes < viewLimits.fleetBatchBytesMax; to++) {
      bytes += this.#events[to]!.bytes.length;
    }
    const selected = this.#events.slice(from, to);
    // A reader may have received only the beginning of what was encoded in one piece.
    if (selected.length > 0) selected[0] = cutBehind(selected[0]!, after)!;
    return selected;
  }

  /** Whether folding has begun: until then it is not known which events the channel will have. */
  get isReady(): boolean {
    return this.#floor !== undefined;
  }

  /** Whether it has folded the log up to the head at which it was opened. Until then more events come without new frames. */
  get isCurrent(): boolean {
    return this.seq >= this.#head;
  }

  /** Drops the events: they can be read from the log. */
  drop(): void {
    this.#forget(this.#events.length);
  }

  /** Called when the last reader has left. */
  close(): void {
    this.#leaving.abort();
    this.drop();
  }

  async #run(): Promise<'deleted' | 'closed'> {
    const { store, log, sessionId } = this.#request;
    const { signal } = this.#leaving;
    const head = (await store.heads([sessionId])).get(sessionId) ?? 0;
    const fold = await FleetFold.begin(this.#request, head);
    this.#floor = afterFrame(fold.seq);
    this.seq = fold.seq;
    this.#head = head;
    this.wakeUps.wakeAll();
    const tail = log.tail({ sessionId, after: fold.seq, signal });
    while (true) {
      const step = await tail.next();
      if (step.done === true) return step.value === 'deleted' ? 'deleted' : 'closed';
      // The existing log is folded in slices, so that other work runs in between.
      for (let at = 0; at < step.value.length; at += logLimits.sliceEntriesMax) {
        if (at > 0) await yieldToEventLoop();
        this.#take(fold, step.value.slice(at, at + logLimits.sliceEntriesMax));
      }
    }
  }

  #take(fold: FleetFold, entries: readonly Entry[]): void {
    const events = fold.take(entries);
    const wasCurrent = this.isCurrent;
    this.seq = fold.seq;
    this.#publish(events);
    // Also if the last frames emitted no events.
    if (!wasCurrent && this.isCurrent) this.wakeUps.wakeAll();
  }

  #publish(events: readonly EncodedEvent[]): void {
    if (events.length === 0) return;
    const before = this.#bytes;
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += event.bytes.length;
    }
    this.#request.onBytes(this.#bytes - before);
    this.#forget(this.#countSurplus());
    this.wakeUps.wakeAll();
  }

  /** Drops a quarter at a time: the remaining events are moved, and moving them for each new event would cost more than all other work. */
  #countSurplus(): number {
    const { fleetChannelBytesMax: bytesMax } = viewLimits;
    if (this.#bytes <= bytesMax) return 0;
    let count = 0;
    for (let bytes = this.#bytes; bytes > bytesMax * 0.75; count++) bytes -= this.#events[count]!.bytes.length;
    return count;
  }

  #forget(count: number): void {
    if (count === 0) return;
    const gone = this.#events.splice(0, count);
    const bytes = gone.reduce((sum, event) => sum + event.bytes.length, 0);
    const { seq, index } = gone.at(-1)!;
    this.#floor = { seq, index };
    this.#bytes -= bytes;
    this.#request.onBytes(-bytes);
  }

  #finish(end: FleetChannel['end']): void {
    this.end = end;
    this.wakeUps.wakeAll();
  }
}

/** The index of the first event behind a cursor. */
function findFirst(events: readonly EncodedEvent[], after: FleetCursor): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(events[middle]!, after)) high = middle;
    else low = middle + 1;
  }
  return low;
}
