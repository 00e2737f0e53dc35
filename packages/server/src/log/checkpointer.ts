import { logLimits } from './limits.ts';
import { isStoreError } from '../store/store-errors.ts';

/** Asks a fold to write the missing checkpoints of a session, up to a frame. */
export interface CheckpointRequest {
  readonly sessionId: string;
  readonly head: number;
  /** Aborted when the server stops: missing checkpoints are written later. */
  readonly signal: AbortSignal;
}

/** The folds that save checkpoints, and the interval in frames. */
export interface CheckpointerOptions {
  readonly folds: readonly ((request: CheckpointRequest) => Promise<void>)[];
  readonly onProblem: (error: unknown) => void;
  /** The number of new frames of a session after which its folds are asked for checkpoints. */
  readonly frames?: number;
}

/**
 * Has checkpoints written in the background, one session at a time, whenever enough frames of a session were appended. A
 * session with fewer frames costs one map entry.
 */
export class Checkpointer {
  readonly #options: Required<CheckpointerOptions>;
  /** The frame at which the folds of each session are asked next. */
  readonly #due = new Map<string, number>();
  readonly #waiting = new Map<string, number>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: CheckpointerOptions) {
    this.#options = { frames: logLimits.checkpointFrames, ...options };
  }

  /** Called with every append. */
  note(sessionId: string, head: number): void {
    const { frames } = this.#options;
    const due = this.#due.get(sessionId);
    if (due !== undefined && head < due) return;
    // A session that is not known may have a long log already, for example after a restart.
    if (head >= frames) this.request(sessionId, head);
    this.#put(sessionId, head < frames ? frames : head + frames);
  }

  /** Has the missing checkpoints of a session written, up to a frame. */
  request(sessionId: string, head: number): void {
    if (this.#closing.signal.aborted) return;
    this.#waiting.set(sessionId, Math.max(head, this.#waiting.get(sessionId) ?? 0));
    this.#running ??= this.#run();
  }

  /** The session is deleted. */
  forget(sessionId: string): void {
    this.#due.delete(sessionId);
    this.#waiting.delete(sessionId);
  }

  /** Waits until all requests are handled. */
  async settle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Aborts the request that is being handled and drops the others. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settle();
  }

  #put(sessionId: string, due: number): void {
    this.#due.set(sessionId, due);
    const [oldest] = this.#due.keys();
    if (this.#due.size > logLimits.checkpointSessionsMax) this.#due.delete(oldest!);
  }

  async #run(): Promise<void> {
    const { folds, onProblem } = this.#options;
    const { signal } = this.#closing;
    for (const [sessionId, head] of this.#waiting) {
      this.#waiting.delete(sessionId);
      if (signal.aborted) continue;
      for (const fold of folds) {
        // The session may be deleted at any moment.
        await fold({ sessionId, head, signal }).catch(
          (error: unknown) => isStoreError(error, 'not_found') || onProblem(error),
        );
      }
    }
    this.#running = undefined;
  }
}
