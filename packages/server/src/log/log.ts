import { isDatabaseAway } from '../base/resource-error.ts';
import { CommitQueue } from './commit-queue.ts';
import { Feed, type TailEnd } from './feed.ts';
import { Feeds } from './feeds.ts';
import { type Entry, encodeFrame, type NewFrame, StoredFrame } from '../store/frame.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { type LogLimits, toLogLimits } from './log-limits.ts';
import { type Schedule, systemSchedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';
import { type Appended, sessionOf, type Write } from '../store/write.ts';

/** The logs of all sessions: where everything that happens is written, and read as it happens. */
export interface SessionLog {
  /**
   * Writes frames and records. It returns when they are durable, and no reader sees them before. A caller that
   * does not wait must handle the rejection; its writes stay in order. The frames may be changed as soon as this has been
   * called.
   */
  append(write: Write<NewFrame>): Promise<Appended>;

  /**
   * All entries behind a cursor, in batches, then those to come, each exactly once. It ends when the signal comes, the
   * session is deleted or the log is closed, and says which. A pruned range may come in pieces.
   */
  tail(request: TailRequest): Tail;

  /** Commits what waits, then ends all readers. The store stays open. */
  close(): Promise<void>;
}

/** The frames of a session from a position on, also those written later. */
export interface Tail {
  next(): Promise<IteratorResult<readonly Entry[], TailEnd>>;
  /** Ends it at once, also while it waits for something to happen. */
  return(): Promise<IteratorResult<readonly Entry[], TailEnd>>;
  [Symbol.asyncIterator](): Tail;
}

/** Where a tail begins, and whether it needs deltas. */
export interface TailRequest {
  readonly sessionId: string;
  /** The last one known; 0 for all. */
  readonly after: number;
  readonly signal?: AbortSignal;
  /** The existing log comes without deltas, which become ranges. Frames written in the meantime may include deltas. */
  readonly skipsDeltas?: boolean;
}

export interface LogOptions {
  readonly store: Store;
  readonly schedule?: Schedule;
  readonly limits?: Partial<LogLimits>;
  /** Called with each write that has frames, when it is committed, and with where the log ends then. */
  readonly onAppended?: (sessionId: string, head: number) => void;
}

/**
 * The logs on a store. One is enough for a process; several, in several processes, may share the store.
 *
 * @example
 * const log = createLog({ store });
 * await log.append({ type: 'append', sessionId, fence, frames: [{ threadId, turn, time, type, payload }], changes: [] });
 * for await (const entries of log.tail({ sessionId, after: 0, signal })) show(entries);
 */
export function createLog({ store, schedule = systemSchedule, limits = {}, onAppended }: LogOptions): SessionLog {
  const bounds = toLogLimits(limits);
  const feeds = new Feeds({ store, schedule, bounds, isCommitting: () => queue.isCommitting });
  const queue = new CommitQueue({
    store,
    onCommitted: publish,
    queueBytesMax: bounds.logQueueBytesMax,
    commitBytesMax: bounds.logCommitBytesMax,
  });
  let isClosed = false;

  return {
    append: async (write) => {
      if (isClosed) throw storeError('closed', 'the log is closed');
      const encoded = tryEncode(write, bounds.frameBytesMax);
      return encoded instanceof Error ? queue.refuse(write, encoded) : queue.push(encoded);
    },
    tail: (request) => endAtReturn(request.signal, (signal) => read({ skipsDeltas: false, ...request, signal })),
    close: async () => {
      isClosed = true;
      await queue.drain();
      feeds.close();
    },
  };

  /** Passes committed frames to the readers of the session without reading the store. */
  function publish(write: Write, { firstSeq, lastSeq }: Appended): void {
    const sessionId = sessionOf(write);
    if (!('frames' in write)) return;
    onAppended?.(sessionId, lastSeq);
    const entries = write.frames.map(({ bytes }, index) => new StoredFrame(sessionId, firstSeq + index, bytes));
    feeds.publish(sessionId, entries);
  }

  async function* read({ sessionId, after, signal, skipsDeltas }: Required<TailRequest>): Reading {
    if (isClosed) return 'closed';
    const feed = await outlastOutage(() => feeds.enter(sessionId, after), signal);
    if (feed === undefined) return isClosed ? 'closed' : 'aborted';
    try {
      if (!(after <= feed.head)) throw cursorAhead(sessionId, after, feed.head);
      let cursor = after;
      while (true) {
        if (signal.aborted) return 'aborted';
        if (feed.end !== undefined) return feed.end;
        const entries = await outlastOutage(() => next(feed, sessionId, cursor, skipsDeltas), signal);
        if (entries === undefined) {
          // No await between this look and the wait, so that nothing can come in between.
          if (feed.head <= cursor && feed.end === undefined) await feed.changed(signal);
          continue;
        }
        if (feed.end !== undefined) continue;
        // Anything else would hide a loss from every reader downstream.
        if (entries[0]?.seq !== cursor + 1) throw gap(sessionId, cursor, entries[0]?.seq);
        cursor = entries.at(-1)!.lastSeq;
        yield entries;
      }
    } finally {
      feeds.leave(sessionId, feed);
    }
  }

  /** Repeats a read while the database is unreachable, so that readers continue after it. Undefined: aborted or closed. */
  async function outlastOutage<Result>(run: () => Promise<Result>, signal: AbortSignal): Promise<Result | undefined> {
    while (true) {
      try {
        return await run();
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
      await pause(signal);
      if (signal.aborted || isClosed) return undefined;
    }
  }

  function pause(signal: AbortSignal): Promise<void> {
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

  /** From the entries that readers share, or else from the store. Undefined if the reader is at the end. */
  async function next(
    feed: Feed,
    sessionId: string,
    cursor: number,
    skipsDeltas: boolean,
  ): Promise<readonly Entry[] | undefined> {
    const shared = feed.select(cursor, bounds.logBatchEntriesMax, bounds.logBatchBytesMax);
    if (shared !== undefined) return shared;
    if (cursor >= feed.head) return undefined;
    const entries = await feeds.load(feed, { sessionId, after: cursor, skipsDeltas });
    // An embedded store answers within the same turn of the event loop, and a log may be long.
    await yieldToEventLoop();
    return entries;
  }
}

type Reading = AsyncGenerator<readonly Entry[], TailEnd, undefined>;

/** An error if there is a frame that cannot be written. */
function tryEncode(write: Write<NewFrame>, bytesMax: number): Write | Error {
  if (!('frames' in write)) return write;
  try {
    const end = write.frames.length - 1;
    const toLine = (frame: NewFrame, index: number) => encodeFrame(frame, bytesMax, frame.isLast || index === end);
    return { ...write, frames: write.frames.map(toLine) };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * A generator finishes what it is waiting for before it returns. A reader that leaves should not have to wait.
 *
 * `AbortSignal.any` would do, but on Node 20 it keeps what it makes as long as the signal lives.
 */
function endAtReturn(signal: AbortSignal | undefined, start: (signal: AbortSignal) => Reading): Tail {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const reading = start(leaving.signal);
  signal?.addEventListener('abort', leave);
  if (signal?.aborted === true) leave();
  const tail: Tail = {
    next: () => forgetAtEnd(reading.next()),
    return: () => {
      leave();
      return forgetAtEnd(reading.return('aborted'));
    },
    [Symbol.asyncIterator]: () => tail,
  };
  return tail;

  async function forgetAtEnd(step: ReturnType<Reading['next']>): ReturnType<Reading['next']> {
    try {
      const result = await step;
      if (result.done === true) signal?.removeEventListener('abort', leave);
      return result;
    } catch (error) {
      signal?.removeEventListener('abort', leave);
      throw error;
    }
  }
}

function cursorAhead(sessionId: string, after: number, head: number): Error {
  return storeError('invalid_cursor', `${sessionId} has no frame ${after}, its last one is ${head}`);
}

function gap(sessionId: string, cursor: number, found: number | undefined): Error {
  return storeError('log_broken', `after frame ${cursor} of ${sessionId} comes ${found ?? 'nothing'}`);
}
