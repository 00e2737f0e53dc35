import type { Clock } from '../../../base/clock.ts';
import type { ToolLimits } from '../../tool-limits.ts';

/** Pages that one thread has fetched. The oldest are dropped above the limit. */
export class PageCache {
  readonly #clock: Clock;
  readonly #limits: ToolLimits;
  readonly #pages = new Map<string, { text: string; atMs: number }>();
  #chars = 0;

  constructor(clock: Clock, limits: ToolLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get(url: string): string | undefined {
    const page = this.#pages.get(url);
    if (page === undefined) return undefined;
    if (this.#clock.steady() - page.atMs < this.#limits.webFetchCacheMs) return page.text;
    this.#drop(url);
    return undefined;
  }

  set(url: string, text: string): void {
    this.#drop(url);
    this.#pages.set(url, { text, atMs: this.#clock.steady() });
    this.#chars += text.length;
    for (const oldest of this.#pages.keys()) {
      const { webFetchCacheEntriesMax, webFetchCacheCharsMax } = this.#limits;
      if (this.#pages.size <= webFetchCacheEntriesMax && this.#chars <= webFetchCacheCharsMax) return;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#chars -= this.#pages.get(url)?.text.length ?? 0;
    this.#pages.delete(url);
  }
}
