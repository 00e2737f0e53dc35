import { limits } from './watch-fleet-limits.ts';

/** How long to wait before reconnecting: longer each time, up to a limit, with jitter so that readers do not return at once. */
export class BackOff {
  /** Failed attempts in a row. */
  attempt = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The wait before the next attempt: at least `hintMs` of the server, plus random jitter. */
  next(hintMs: number): number {
    const longest = Math.min(limits.backOffMsMax, limits.backOffMsMin * 2 ** this.attempt);
    this.attempt++;
    return Math.min(hintMs, limits.hintMsMax) + Math.round(longest * this.#random());
  }

  reset(): void {
    this.attempt = 0;
  }
}
