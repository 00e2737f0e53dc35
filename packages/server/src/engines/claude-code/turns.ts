/**
 * The turns of the main agent: which were begun, whether what was said has been taken up, and whether the program is about
 * to begin one by itself. Behind the end of a sub-agent in the background it always does, to read the report.
 */
export class Turns {
  #open = 0;
  /** Messages that were given to the program, and that it has not taken up. */
  #untaken = 0;
  /** Sub-agents that have ended while a turn was open, which may have read their reports or not. */
  #unread = 0;
  #isExpecting = false;

  /** One is about to begin by itself. */
  get isExpecting(): boolean {
    return this.#isExpecting;
  }

  get areResting(): boolean {
    return this.#open === 0 && this.#untaken === 0;
  }

  said(): void {
    this.#untaken++;
  }

  /** The program repeats what it takes up. */
  taken(): void {
    this.#untaken = Math.max(0, this.#untaken - 1);
  }

  start(): void {
    this.#open++;
    this.#isExpecting = false;
    this.#unread = 0;
  }

  /** Says whether more is to come. `isOwn`: the program had begun it by itself. */
  end({ isOwn, isDone }: { readonly isOwn: boolean; readonly isDone: boolean }): boolean {
    this.#open = Math.max(0, this.#open - 1);
    // Others were begun by what we said, also where the program does not repeat it.
    if (!isOwn) this.#untaken = 0;
    this.#isExpecting = this.#unread > 0 && this.#open === 0 && isDone;
    this.#unread = 0;
    return this.#untaken > 0 || this.#isExpecting;
  }

  /** A sub-agent in the background has ended. Says whether a turn is to be expected that was not before. */
  report(): boolean {
    if (!this.areResting) {
      this.#unread++;
      return false;
    }
    this.#isExpecting = true;
    return true;
  }

  /** What was expected does not come. Says whether anything was. */
  giveUp(): boolean {
    const wasExpecting = this.#isExpecting;
    this.#isExpecting = false;
    return wasExpecting;
  }
}
