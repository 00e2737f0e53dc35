/**
 * A map that remembers at least its last `capacity` entries and at most twice as many: two generations, of which the older
 * is dropped whole. Deleting the oldest entry of one big Map at every step is several times slower.
 */
export class RecentMap<K, V> {
  readonly #capacity: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: K): V | undefined {
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
    return [...this.#old, ...this.#young].slice(-count);
  }
}
