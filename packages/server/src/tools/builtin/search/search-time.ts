import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfInterrupted } from '../../tool-failure.ts';

/**
 * The time that a search has. The tool host has one thread, so a search stops now and then to let messages of the server
 * through: other calls, and the interrupt of this one.
 */
export class SearchTime {
  readonly #signal: AbortSignal;
  readonly #endsAt: number;
  #pausedAt = performance.now();

  constructor(timeoutMs: number, signal: AbortSignal) {
    this.#endsAt = performance.now() + timeoutMs;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Whether enough was done for a pause. */
  get isPauseDue(): boolean {
    return performance.now() - this.#pausedAt >= PAUSE_AFTER_MS;
  }

  /** Throws when the search was interrupted. */
  async pause(): Promise<void> {
    await nextTurn();
    this.#pausedAt = performance.now();
    throwIfInterrupted(this.#signal);
  }
}

const PAUSE_AFTER_MS = 20;
