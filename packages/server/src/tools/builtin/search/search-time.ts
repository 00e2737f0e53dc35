import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfInterrupted } from '../../tool-failure.ts';

/**
 * The time limit of a search. The tool host has one thread, so a search pauses regularly to let messages of the server
 * be handled: other calls, and the interrupt of this call.
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

  /** Whether the search has worked long enough to pause. */
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
