import type { Clock } from '../../../base/clock.ts';
import { sessionLimits } from '../../core/limits.ts';

/** Sessions whose workspace is on the disk of another node. Each entry expires, so that the session is checked again. */
export class RemoteWorkspaces {
  readonly #clock: Pick<Clock, 'steady'>;
  /** When each entry expires; the oldest first. */
  readonly #expiries = new Map<string, number>();

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock;
  }

  /** Records that another node has the workspace of the session. */
  add(sessionId: string): void {
    this.#expiries.delete(sessionId);
    this.#expiries.set(sessionId, this.#clock.steady() + sessionLimits.elsewhereMs);
  }

  has(sessionId: string): boolean {
    return this.#expiries.has(sessionId);
  }

  delete(sessionId: string): void {
    this.#expiries.delete(sessionId);
  }

  /** Removes expired entries. */
  expire(): void {
    for (const [sessionId, until] of this.#expiries) {
      if (this.#clock.steady() < until) return;
      this.#expiries.delete(sessionId);
    }
  }
}
