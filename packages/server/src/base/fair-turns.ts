/**
 * Runs a few pieces of work at a time. Owners whose work waits take turns, however much each of them has: thousands of pieces of
 * one owner delay another owner by one piece each time, and pieces that take long leave room where one owner has only a share.
 *
 * @example
 * const turns = new FairTurns(4);
 * await turns.run('wrkspc_1', signal, () => readPart());
 */
export class FairTurns {
  readonly #atOnceMax: number;
  readonly #ofOwnerMax: number;
  /** The owner that comes next comes first. Each has at least one piece of work that waits. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** How many pieces of each owner run. */
  readonly #running = new Map<string, number>();

  constructor(atOnceMax: number, ofOwnerMax: number = atOnceMax) {
    this.#atOnceMax = atOnceMax;
    this.#ofOwnerMax = ofOwnerMax;
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
      this.#count(owner, -1);
      this.#begin();
    }
  }

  /** Resolves with whether the work may begin. */
  #enter(owner: string, signal: AbortSignal): boolean | Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#hasRoom(owner)) {
      this.#count(owner, 1);
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
    const next = [...this.#waiting].find(([each]) => this.#hasRoom(each));
    if (next === undefined) return;
    const [owner, own] = next;
    const [begin] = own;
    this.#remove(owner, begin!);
    if (own.size > 0) {
      // Moved to the end: the other owners are next.
      this.#waiting.delete(owner);
      this.#waiting.set(owner, own);
    }
    this.#count(owner, 1);
    begin!();
  }

  #hasRoom(owner: string): boolean {
    const all = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    return all < this.#atOnceMax && (this.#running.get(owner) ?? 0) < this.#ofOwnerMax;
  }

  #count(owner: string, change: number): void {
    const count = (this.#running.get(owner) ?? 0) + change;
    if (count === 0) this.#running.delete(owner);
    else this.#running.set(owner, count);
  }

  #remove(owner: string, begin: () => void): void {
    const own = this.#waiting.get(owner);
    if (own?.delete(begin) === true && own.size === 0) this.#waiting.delete(owner);
  }
}
