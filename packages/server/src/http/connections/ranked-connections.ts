/**
 * The rank of a connection, the lowest first. `unused`: no request was received. A stranger has not sent a key; `busy` has a
 * request with a key in progress and is never closed to make room.
 */
export type Rank = 'unused' | 'idle_stranger' | 'busy_stranger' | 'idle' | 'busy';

/** The properties that decide which connection is closed first at the limit. */
export interface Ranked {
  readonly rank: Rank;
  /** Since when the connection has its rank. */
  readonly since: number;
  /** Whether bytes that the client sent right after connecting have been read. */
  readonly wasRead: boolean;
}

/**
 * Connections by rank, and within a rank by age. Every operation takes constant time, except finding the oldest idle
 * connection of a client with a key, which scans all connections of such clients: they are only moved between `idle` and
 * `busy` with every request, which must be cheap.
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

  /** Moves an item whose rank has changed. It becomes the youngest of its new rank. */
  move(item: Item, before: Rank): void {
    const [from, to] = [this.#sets[before], this.#sets[item.rank]];
    if (from !== to && from.delete(item)) to.add(item);
  }

  remove(item: Item): void {
    if (this.#sets[item.rank].delete(item)) this.#size -= 1;
  }

  /** The item with the lowest rank, among items that have had their rank since that time or longer. */
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
