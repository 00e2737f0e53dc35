/**
 * A map that remembers at least its last `capacity` entries and at most twice as many: two generations, of which the older
 * is dropped whole. Deleting the oldest entry of one big Map at every step is several times slower.
 */
export class RecentMap<K, V> {
  readonly #capacity: number;
  #young = new Map<K | undefined, V>();
  #old = new Map<K | undefined, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns the value of a key; undefined for an undefined key. */
  get(key: K | undefined): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#capacity) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** The newest entries, oldest first. */
  newest(count: number): [K, V][] {
    // The cast: `set` never stores an entry without a key.
    return [...this.#old, ...this.#young].slice(-count) as [K, V][];
  }
}

/** Appends an item to a list that keeps its last `max` items; returns the removed item. */
export function keepLast<T>(list: T[], item: T, max: number): T | undefined {
  list.push(item);
  return list.length > max ? list.shift() : undefined;
}

/** As `keepLast`, but without moving the items each time: the list has its last `max` items and less than a quarter more. */
export function keepRecent<T>(list: T[], item: T, max: number): void {
  if (list.push(item) === max * 1.25) list.splice(0, max / 4);
}
