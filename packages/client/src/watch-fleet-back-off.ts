import { limits } from './watch-fleet-limits.ts';

/** How long to wait before connecting again: longer each time, up to a limit, and never all readers at once. */
export class BackOff {
  /** Tries in a row that came to nothing. */
  attempt = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The wait before the next try. What the server asks for is the least; the chance comes on top. */
  next(hintMs: number): number {
    const longest = Math.min(limits.backOffMsMax, limits.backOffMsMin * 2 ** this.attempt);
    this.attempt++;
    return Math.min(hintMs, limits.hintMsMax) + Math.round(longest * this.#random());
  }

  reset(): void {
    this.attempt = 0;
  }
}
