/**
 * Counts bytes held in memory, such as parts of incomplete messages. Several counters of the same
 * bytes, one for each connection and one for all, are chained by `within`.
 */
export class HeldBytes {
  readonly #within: HeldBytes | undefined;
  #held = 0;

  constructor(within?: HeldBytes) {
    this.#within = within;
  }

  get held(): number {
    return this.#held;
  }

  add(bytes: number): void {
    this.#held += bytes;
    this.#within?.add(bytes);
  }

  release(bytes: number): void {
    this.add(-bytes);
  }
}
