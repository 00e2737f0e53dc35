import type { Clock } from '../../../base/clock.ts';

/**
 * Until when this process holds a lease, by its own steady clock. Counted from before the request to the store, so it never
 * ends later than the lease itself. A process that was frozen notices an expired lease before it does anything.
 */
export class LeaseState {
  readonly #clock: Pick<Clock, 'steady'>;
  #until: number;

  constructor(clock: Pick<Clock, 'steady'>, until: number) {
    this.#clock = clock;
    this.#until = until;
  }

  get isHeld(): boolean {
    return this.#clock.steady() < this.#until;
  }

  /** The store renewed the lease. An expired lease stays expired: another process may have owned the session in between. */
  renewed(until: number): void {
    if (this.isHeld) this.#until = Math.max(this.#until, until);
  }
}
