/**
 * Runs a few pieces of work at a time. Owners with waiting work take turns, independent of how much each of them has: thousands of pieces of
 * one owner delay another owner by one piece each time.
 *
 * @example
 * const turns = new FairTurns(4);
 * await turns.run('wrkspc_1', signal, () => readPart());
 */
export class FairTurns {
  readonly #atOnceMax: number;
  /** Owners with at least one waiting piece of work, the next one first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #running = 0;

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  /** Number of waiting pieces of work. */
  get waitingCount(): number {
    let count = 0;
    for (const own of this.#waiting.values()) count += own.size;
    return count;
  }

  /** Runs the work when it is the owner's turn. Undefined: the signal was aborted before, and the work did not begin. */
  async run<Result>(
    owner: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result } | undefined> {
    if (!(await this.#enter(owner, signal))) return undefined;
    try {
      return { result: await work() };
    } finally {
      this.#running--;
      this.#begin();
    }
  }

  /** Resolves with whether the work may begin. */
  #enter(owner: string, signal: AbortSignal): boolean | Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#running < this.#atOnceMax) {
      this.#running++;
      return true;
    }
    return new Promise((resolve) => {
      const begin = () => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = () => {
        this.#remove(owner, begin);
        resolve(false);
      };
      const own = this.#waiting.get(owner);
      if (own === undefined) this.#waiting.set(owner, new Set([begin]));
      else own.add(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #begin(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#running >= this.#atOnceMax) return;
    const [owner, own] = next;
    const [begin] = own;
    this.#remove(owner, begin!);
    if (own.size > 0) {
      // Moved to the end: the other owners are next.
      this.#waiting.delete(owner);
      this.#waiting.set(owner, own);
    }
    this.#running++;
    begin!();
  }

  #remove(owner: string, begin: () => void): void {
    const own = this.#waiting.get(owner);
    if (own?.delete(begin) === true && own.size === 0) this.#waiting.delete(owner);
  }
}
