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

  /** Ends after the one that is under way. The others come again: their next append says so. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const sessionId of this.#waiting) {
      if (this.#isClosed) break;
      this.#waiting.delete(sessionId);
      // It is only about speed. If the session is gone or the database is away there is nothing to say.
      await this.#segments.mergeRows(sessionId).catch(() => {});
    }
    this.#running = undefined;
  }
}
