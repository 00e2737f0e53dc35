import { inBackground } from './in-background.ts';
import { api } from './api.ts';

/** The path to poll, the interval, and the callbacks. */
export interface PolledOptions<Answer> {
  readonly path: string;
  /** The least time between two requests. */
  readonly everyMs: number;
  /** Whether to send the next request, checked in addition to whether the tab is visible. */
  readonly isWanted: () => boolean;
  /** Called with each response; undefined if the request failed or the last response is older than `everyMs`. */
  readonly onRead: (answer: Answer | undefined) => void;
}

/** Polls a path while it is watched. */
export class Polled<Answer> {
  readonly #options: PolledOptions<Answer>;
  #watchers = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(options: PolledOptions<Answer>) {
    this.#options = options;
  }

  /** Starts to watch; the returned function stops it. */
  readonly watch = (): (() => void) => {
    this.#watchers += 1;
    // A page opened within `everyMs` of the last response keeps showing it.
    if (this.#watchers === 1 && this.#waitMs() === 0) this.#options.onRead(undefined);
    this.#askLater();
    return () => {
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  };

  #askLater(): void {
    if (this.#timer !== undefined || this.#isAsking || this.#watchers === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#askedAt = performance.now();
      if (document.visibilityState === 'visible' && this.#options.isWanted()) inBackground(this.#ask());
      else this.#askLater();
    }, this.#waitMs());
  }

  #waitMs(): number {
    return Math.max(0, this.#askedAt + this.#options.everyMs - performance.now());
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    // A failed request yields no value; the link badge shows a lost connection.
    const answer = await api.get<Answer>(this.#options.path).catch(() => undefined);
    this.#isAsking = false;
    this.#options.onRead(answer);
    this.#askLater();
  }
}
