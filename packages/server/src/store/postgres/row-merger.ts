import type { Segments } from './segments.ts';

/** Merges small rows of logs in the background, one log at a time. */
export class RowMerger {
  readonly #segments: Pick<Segments, 'mergeRows'>;
  readonly #waiting = new Set<string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(segments: Pick<Segments, 'mergeRows'>) {
    this.#segments = segments;
  }

  note(sessionIds: readonly string[]): void {
    for (const sessionId of sessionIds) this.#waiting.add(sessionId);
    if (this.#waiting.size > 0) this.#running ??= this.#run();
  }

  /** Stops after the merge in progress. The next append of the other logs queues them again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const sessionId of this.#waiting) {
      if (this.#isClosed) break;
      this.#waiting.delete(sessionId);
      // Merging is only an optimisation, so a deleted session or an unreachable database is not reported.
      await this.#segments.mergeRows(sessionId).catch(() => {});
    }
    this.#running = undefined;
  }
}
