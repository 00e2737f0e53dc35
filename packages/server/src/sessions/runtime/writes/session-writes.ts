import type { NewSessionFrame } from '../../../frames/frames.ts';
import type { SessionLog } from '../../../log/log.ts';
import type { Change } from '../../../store/write.ts';

/** What writing the frames of a session needs. */
export interface SessionWritesOptions {
  readonly log: Pick<SessionLog, 'append'>;
  readonly sessionId: string;
  readonly fence: number;
  /** Receives the error if deltas could not be written. */
  readonly onLost: (error: unknown) => void;
}

/** The writes of one owner of a session. It tracks which of them are not durable yet. */
export class SessionWrites {
  readonly #options: SessionWritesOptions;
  readonly #open = new Set<Promise<unknown>>();

  constructor(options: SessionWritesOptions) {
    this.#options = options;
  }

  /** Writes frames. Rejects if they were not written. */
  async write(frames: readonly NewSessionFrame[], changes: readonly Change[]): Promise<void> {
    const writing = this.#append(frames, changes);
    this.#open.add(writing);
    try {
      await writing;
    } finally {
      this.#open.delete(writing);
    }
  }

  /** Writes a delta and never rejects. Nearly all writes are deltas, so this creates a single promise. */
  writeDelta(frame: NewSessionFrame, changes: readonly Change[]): Promise<void> {
    const written: Promise<void> = this.#append([frame], changes).then(
      () => void this.#open.delete(written),
      (error: unknown) => {
        this.#open.delete(written);
        this.#options.onLost(error);
      },
    );
    this.#open.add(written);
    return written;
  }

  /** Resolves when every write so far is durable or rejected. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  #append(frames: readonly NewSessionFrame[], changes: readonly Change[]): Promise<unknown> {
    const { log, sessionId, fence } = this.#options;
    return log.append({ type: 'append', sessionId, fence, frames, changes });
  }
}
