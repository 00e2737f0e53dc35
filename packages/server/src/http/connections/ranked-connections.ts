/**
 * What was received on a connection, the least first. `unused`: no request yet. A stranger has sent no key; `busy` has a
 * request with a key under way and is never closed to make room.
 */
export type Rank = 'unused' | 'idle_stranger' | 'busy_stranger' | 'idle' | 'busy';

export interface Ranked {
  readonly rank: Rank;
  /** Since when it has that rank. */
  readonly since: number;
  /** Whether bytes that its client sent right after connecting have been read by now. */
  readonly wasRead: boolean;
}

/** Connections by rank, and within a rank by age. Every operation takes constant time. */
export class RankedConnections<Item extends Ranked> {
  readonly #sets: Readonly<Record<Rank, Set<Item>>> = {
    unused: new Set(),
    idle_stranger: new Set(),
    busy_stranger: new Set(),
    idle: new Set(),
    busy: new Set(),
  };
  #size = 0;

  get size(): number {
    return this.#size;
  }

  of(rank: Rank): Iterable<Item> {
    return this.#sets[rank];
  }

  add(item: Item): void {
    this.#sets[item.rank].add(item);
    this.#size += 1;
  }

  /** To the end of its new rank. */
  move(item: Item, before: Rank): void {
    if (this.#sets[before].delete(item)) this.#sets[item.rank].add(item);
  }

  remove(item: Item): void {
    if (this.#sets[item.rank].delete(item)) this.#size -= 1;
  }

  /** The one with the lowest rank, among those that have had their rank since then or longer. */
  findLeast(since: number): Item | undefined {
    for (const rank of CLOSABLE) {
      const [oldest] = this.#sets[rank];
      if (oldest !== undefined && oldest.since <= since && oldest.wasRead) return oldest;
    }
    return undefined;
  }
}

const CLOSABLE: readonly Rank[] = ['unused', 'idle_stranger', 'busy_stranger', 'idle'];
