import { isDatabaseAway } from '../base/resource-error.ts';
import type { Schedule } from '../base/schedule.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { Entry } from '../store/frame.ts';
import { storeError } from '../store/store-errors.ts';
import { ChangeWaiter } from './change-waiter.ts';
import type { Feed, TailEnd } from './feed.ts';
import type { Feeds } from './feeds.ts';
import type { LogLimits } from './log-limits.ts';
import type { Tail, TailRequest } from './tail.ts';

/** What a tail reads from. */
export interface LogTailOptions {
  readonly feeds: Feeds;
  readonly schedule: Schedule;
  readonly bounds: LogLimits;
  readonly isClosed: () => boolean;
}

type Step = IteratorResult<readonly Entry[], TailEnd>;

/**
 * One reader of a log. Not a generator: `return` of a generator waits for the pending `next`, and a reader that leaves
 * must not wait. A reader that keeps up receives shared entries in the same turn of the event loop in which it asks.
 */
export class LogTail implements Tail {
  readonly #options: LogTailOptions;
  readonly #request: TailRequest;
  readonly #leaving = new AbortController();
  readonly #waiter = new ChangeWaiter(this.#leaving.signal);
  readonly #leave = () => this.#leaving.abort();
  #feed: Feed | undefined;
  #cursor: number;
  #isOver = false;
  /** The last pending call of `next`: calls resolve in their order. */
  #last: Promise<unknown> | undefined;

  constructor(options: LogTailOptions, request: TailRequest) {
    this.#options = options;
    this.#request = request;
    this.#cursor = request.after;
    request.signal?.addEventListener('abort', this.#leave);
    if (request.signal?.aborted === true) this.#leave();
  }

  [Symbol.asyncIterator](): Tail {
    return this;
  }

  next(): Promise<Step> {
    const shared = this.#last === undefined ? this.#peekShared() : undefined;
    if (shared?.[0]?.seq === this.#cursor + 1) return Promise.resolve({ done: false, value: this.#take(shared) });
    const step = this.#last === undefined ? this.#step() : this.#last.then(() => this.#step());
    const forget = () => {
      if (this.#last === settled) this.#last = undefined;
    };
    const settled: Promise<void> = step.then(forget, forget);
    this.#last = settled;
    return step;
  }

  async return(): Promise<Step> {
    this.#leave();
    await this.#last;
    return this.#end('aborted');
  }

  async #step(): Promise<Step> {
    if (this.#isOver) return { done: true, value: 'aborted' };
    try {
      const found = await this.#find();
      return typeof found === 'string' ? this.#end(found) : { done: false, value: found };
    } catch (error) {
      this.#end('aborted');
      throw error;
    }
  }

  #end(value: TailEnd): Step {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#waiter.close();
      this.#request.signal?.removeEventListener('abort', this.#leave);
      if (this.#feed !== undefined) this.#options.feeds.leave(this.#request.sessionId, this.#feed);
    }
    return { done: true, value };
  }

  /** The next entries, waiting for them if necessary; or why the tail ends. */
  async #find(): Promise<readonly Entry[] | TailEnd> {
    const { signal } = this.#leaving;
    if (this.#feed === undefined && this.#options.isClosed()) return 'closed';
    const feed = (this.#feed ??= await this.#enter());
    if (feed === undefined) return this.#options.isClosed() ? 'closed' : 'aborted';
    while (true) {
      if (signal.aborted) return 'aborted';
      if (feed.end !== undefined) return feed.end;
      const shared = this.#peekShared();
      if (shared !== undefined) return this.#take(shared);
      if (feed.head <= this.#cursor) {
        // No await between this check and the wait, or a change in between would be missed.
        await this.#waiter.changed(feed.wakeUps);
        continue;
      }
      const entries = await this.#outlastOutage(() => this.#load(feed));
      if (entries !== undefined && feed.end === undefined) return this.#take(entries);
    }
  }

  async #enter(): Promise<Feed | undefined> {
    const { sessionId, after } = this.#request;
    const feed = await this.#outlastOutage(() => this.#options.feeds.enter(sessionId, after));
    if (feed === undefined || after <= feed.head) return feed;
    this.#options.feeds.leave(sessionId, feed);
    throw storeError('invalid_cursor', `${sessionId} has no frame ${after}, its last one is ${feed.head}`);
  }

  /** Takes from the shared entries. Undefined: the entries are in the store, or do not exist yet. */
  #peekShared(): readonly Entry[] | undefined {
    const feed = this.#feed;
    if (feed === undefined || this.#isOver || this.#leaving.signal.aborted || feed.end !== undefined) return undefined;
    const { logBatchEntriesMax, logBatchBytesMax } = this.#options.bounds;
    return feed.select(this.#cursor, logBatchEntriesMax, logBatchBytesMax);
  }

  async #load(feed: Feed): Promise<readonly Entry[]> {
    const { sessionId, skipsDeltas = false } = this.#request;
    const entries = await this.#options.feeds.load(feed, { sessionId, after: this.#cursor, skipsDeltas });
    // An embedded store answers within the same turn of the event loop: a long log would block other work.
    await yieldToEventLoop();
    return entries;
  }

  #take(entries: readonly Entry[]): readonly Entry[] {
    const first = entries[0]?.seq;
    // Anything else would hide a loss from every reader downstream.
    if (first !== this.#cursor + 1) {
      const { sessionId } = this.#request;
      throw storeError('log_broken', `after frame ${this.#cursor} of ${sessionId} comes ${first ?? 'nothing'}`);
    }
    this.#cursor = entries.at(-1)!.lastSeq;
    return entries;
  }

  /** Repeats a read while the database is unreachable, so that readers continue after it. Undefined: aborted or closed. */
  async #outlastOutage<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
    const { signal } = this.#leaving;
    while (true) {
      try {
        return await run();
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
      await this.#pause();
      if (signal.aborted || this.#options.isClosed()) return undefined;
    }
  }

  #pause(): Promise<void> {
    const { schedule, bounds } = this.#options;
    const { signal } = this.#leaving;
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = schedule(end, bounds.logPollMs);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  }
}
