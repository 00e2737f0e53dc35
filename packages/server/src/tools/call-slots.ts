import { Interrupted } from './tool-failure.ts';

/** A limit of concurrent calls. Further calls wait in order, and leave the queue when they are interrupted. */
export class CallSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#free = max;
  }

  async hold<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new Interrupted();
    if (this.#free === 0) await this.#wait(signal);
    else this.#free--;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        this.#free--;
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(new Interrupted());
      };
      this.#waiting.push(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
