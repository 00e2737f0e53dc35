import { inBackground } from './in-background.ts';
import { api } from './api.ts';

export interface PolledOptions<Answer> {
  readonly path: string;
  /** Two looks are never closer than this. */
  readonly everyMs: number;
  /** Asked before each look, besides whether anybody can see the page. */
  readonly isWanted: () => boolean;
  /** Undefined: it could not be read, or what is known is too old for who looks now. */
  readonly onRead: (answer: Answer | undefined) => void;
}

/** Something that the server is asked for again and again, as long as somebody looks at it and no longer. */
export class Polled<Answer> {
  readonly #options: PolledOptions<Answer>;
  #watchers = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(options: PolledOptions<Answer>) {
    this.#options = options;
  }

  /** Gives back the function that ends it. */
  readonly watch = (): (() => void) => {
    this.#watchers += 1;
    // Who goes from one view to another still sees what was known a moment ago.
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
    // A server that cannot tell it, and one that is away, are both silent about it; the link says which.
    const answer = await api.get<Answer>(this.#options.path).catch(() => undefined);
    this.#isAsking = false;
    this.#options.onRead(answer);
    this.#askLater();
  }
}
