import type { Clock } from '../../base/clock.ts';

/**
 * Until when a process may believe that a session is its own, by its own steady clock. Counted from before the store was
 * asked, so it never ends later than the lease itself. Whoever was frozen notices by it, before doing anything.
 */
export class LeaseBelief {
  readonly #clock: Pick<Clock, 'steady'>;
  #until: number;

  constructor(clock: Pick<Clock, 'steady'>, until: number) {
    this.#clock = clock;
    this.#until = until;
  }

  get isHeld(): boolean {
    return this.#clock.steady() < this.#until;
  }

  /** The store has said so. One that ran out is not believed again: others may have been at work in between. */
  renewed(until: number): void {
    if (this.isHeld) this.#until = Math.max(this.#until, until);
  }
}
