/** First in, first out for each owner, and the owners take turns: an owner with a hundred requests does not delay the others. */
export class FairQueue<Item> {
  /** A map keeps the order of insertion, which is the order of the turns: an owner that had its turn moves to the end. */
  readonly #lines = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(owner: string, item: Item): void {
    const line = this.#lines.get(owner) ?? new Set<Item>();
    line.add(item);
    this.#lines.set(owner, line);
    this.#size += 1;
  }

  /** Removes and returns the next item of the owner whose turn it is. */
  take(): Item | undefined {
    const [turn] = this.#lines;
    if (turn === undefined) return undefined;
    const [owner, line] = turn;
    const [item] = line;
    this.#lines.delete(owner);
    if (line.size > 1) this.#lines.set(owner, line);
    if (item !== undefined && line.delete(item)) this.#size -= 1;
    return item;
  }

  has(owner: string, item: Item): boolean {
    return this.#lines.get(owner)?.has(item) ?? false;
  }

  remove(owner: string, item: Item): void {
    const line = this.#lines.get(owner);
    if (line?.delete(item) !== true) return;
    this.#size -= 1;
    if (line.size === 0) this.#lines.delete(owner);
  }
}
