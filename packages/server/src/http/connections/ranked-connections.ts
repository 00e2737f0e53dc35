/**
 * What was received on a connection, the least first. `unused`: no request yet. A stranger has sent no key; `busy` has a
 * request with a key under way and is never closed to make room.
 */
export type Rank = 'unused' | 'idle_stranger' | 'busy_stranger' | 'idle' | 'busy';

/** What decides which connection is closed first at the limit. */
export interface Ranked {
  readonly rank: Rank;
  /** Since when it has that rank. */
  readonly since: number;
  /** Whether bytes that its client sent right after connecting have been read by now. */
  readonly wasRead: boolean;
}

/**
 * Connections by rank, and within a rank by age. Every operation takes constant time, except finding the oldest idle
 * connection of a client with a key, which looks at all connections of such clients: they are only moved between `idle` and
 * `busy`, with every request, so that costs nothing.
 */
export class RankedConnections<Item extends Ranked> {
  readonly #unused = new Set<Item>();
  readonly #idleStrangers = new Set<Item>();
  readonly #busyStrangers = new Set<Item>();
  readonly #proven = new Set<Item>();
  readonly #sets: Readonly<Record<Rank, Set<Item>>> = {
    unused: this.#unused,
    idle_stranger: this.#idleStrangers,
    busy_stranger: this.#busyStrangers,
    idle: this.#proven,
    busy: this.#proven,
  };
  #size = 0;

  get size(): number {
    return this.#size;
  }

  of(rank: Rank): readonly Item[] {
    return [...this.#sets[rank]].filter((item) => item.rank === rank);
  }

  add(item: Item): void {
    this.#sets[item.rank].add(item);
    this.#size += 1;
  }

  /** The rank of the item has changed, and it is the youngest of its new rank. */
  move(item: Item, before: Rank): void {
    const [from, to] = [this.#sets[before], this.#sets[item.rank]];
    if (from !== to && from.delete(item)) to.add(item);
  }

  remove(item: Item): void {
    if (this.#sets[item.rank].delete(item)) this.#size -= 1;
  }

  /** The one with the lowest rank, among those that have had their rank since then or longer. */
  findLeast(since: number): Item | undefined {
    for (const strangers of [this.#unused, this.#idleStrangers, this.#busyStrangers]) {
      const [oldest] = strangers;
      if (oldest !== undefined && isOld(oldest, since)) return oldest;
    }
    let least: Item | undefined;
    for (const item of this.#proven) {
      if (item.rank === 'idle' && isOld(item, since) && (least === undefined || item.since < least.since)) least = item;
    }
    return least;
  }
}

function isOld({ since, wasRead }: Ranked, latest: number): boolean {
  return since <= latest && wasRead;
}
