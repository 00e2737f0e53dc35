import type { Segments } from './segments.ts';

/** Puts small rows of logs together, one log at a time, while nobody waits for it. */
export class Tidier {
  readonly #segments: Pick<Segments, 'tidy'>;
  readonly #waiting = new Set<string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(segments: Pick<Segments, 'tidy'>) {
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
      await this.#segments.tidy(sessionId).catch(() => {});
    }
    this.#running = undefined;
  }
}
