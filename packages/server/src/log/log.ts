import { CommitQueue } from './commit-queue.ts';
import { Feeds } from './feeds.ts';
import { encodeFrame, type NewFrame, StoredFrame } from '../store/frame.ts';
import { type LogLimits, toLogLimits } from './log-limits.ts';
import { LogTail } from './log-tail.ts';
import type { Tail, TailRequest } from './tail.ts';
import { type Schedule, systemSchedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';
import { type Appended, sessionOf, type Write } from '../store/write.ts';

/** The logs of all sessions: appending frames, and following them. */
export interface SessionLog {
  /**
   * Writes frames and records. Resolves when they are durable; no reader sees them earlier. A caller that
   * does not wait must handle the rejection; its writes stay in order. The frames may be modified as soon as this has been
   * called.
   */
  append(write: Write<NewFrame>): Promise<Appended>;

  /**
   * All entries behind a cursor, in batches, then new ones, each exactly once. It ends when the signal aborts, the
   * session is deleted or the log is closed, and its return value is the reason. A pruned range may arrive in pieces.
   */
  tail(request: TailRequest): Tail;

  /** Commits the queued writes, then ends all readers. The store stays open. */
  close(): Promise<void>;
}

export interface LogOptions {
  readonly store: Store;
  readonly schedule?: Schedule;
  readonly limits?: Partial<LogLimits>;
  /** Called after the commit of each write with frames, with the new head of the log. */
  readonly onAppended?: (sessionId: string, head: number) => void;
}

/**
 * The logs of a store. A process needs one; several processes may share the store.
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
    // Not an async function: nearly every call is a delta, and a further promise per delta is measurable.
    append: (write) => {
      if (isClosed) return Promise.reject(storeError('closed', 'the log is closed'));
      const encoded = tryEncode(write, bounds.frameBytesMax);
      return encoded instanceof Error ? queue.refuse(write, encoded) : queue.push(encoded);
    },
    tail: (request) => new LogTail({ feeds, schedule, bounds, isClosed: () => isClosed }, request),
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
}

/** The encoded write, or the error of a frame that cannot be encoded. */
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
