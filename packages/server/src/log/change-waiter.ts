/** Wakes whatever waits for a change. */
export class WakeUps {
  #waiting = new Set<() => void>();

  add(wakeUp: () => void): void {
    this.#waiting.add(wakeUp);
  }

  delete(wakeUp: () => void): void {
    this.#waiting.delete(wakeUp);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** What is added in the meantime waits for the next change. */
  wakeAll(): void {
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wakeUp of waiting) wakeUp();
  }
}

/**
 * Waits for one change after the other, until the signal comes. It listens to the signal once: adding and removing a listener for
 * each change cost a tenth of what a live stream costs.
 */
export class ChangeWaiter {
  readonly #signal: AbortSignal;
  readonly #stop = () => this.#wakeUp?.();
  #wakeUp: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#stop);
  }

  /** Resolves with the next change, or when the signal comes. One wait at a time. */
  changed(wakeUps: WakeUps): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wakeUp = () => {
        wakeUps.delete(wakeUp);
        this.#wakeUp = undefined;
        resolve();
      };
      this.#wakeUp = wakeUp;
      wakeUps.add(wakeUp);
    });
  }

  /** Must be called at the end: the signal may live on. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#stop);
  }
}
