/** Bounds of a {@link RecentMap}. */
export interface RecentMapOptions<Value> {
  readonly entriesMax: number;
  /** The largest sum of the sizes of all values, by `sizeOf`. */
  readonly sizeMax?: number | undefined;
  readonly sizeOf?: ((value: Value) => number) | undefined;
  /** Longer names are not stored. */
  readonly nameCharsMax?: number | undefined;
}

/**
 * A map whose keys come from a program or a client. When it is full, the oldest entries are dropped, so that endless keys do not fill
 * the memory.
 *
 * @example
 * const prompts = new RecentMap<string>({ entriesMax: 1_000 });
 * prompts.set('agent_1', 'Review it.');
 */
export class RecentMap<Value> {
  readonly #options: RecentMapOptions<Value>;
  readonly #entries = new Map<string, { readonly value: Value; readonly size: number }>();
  #size = 0;

  constructor(options: RecentMapOptions<Value>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  values(): Value[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get(name: string): Value | undefined {
    return this.#entries.get(name)?.value;
  }

  /** Stores an entry as the newest. A value larger than `sizeMax` is not stored. */
  set(name: string, value: Value): void {
    const { entriesMax, sizeMax = Number.POSITIVE_INFINITY, sizeOf, nameCharsMax } = this.#options;
    this.delete(name);
    const size = sizeOf?.(value) ?? 0;
    if (size > sizeMax || (nameCharsMax !== undefined && name.length > nameCharsMax)) return;
    this.#entries.set(name, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax && this.#size <= sizeMax) return;
      this.delete(oldest);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#size = 0;
  }

  delete(name: string): boolean {
    this.#size -= this.#entries.get(name)?.size ?? 0;
    return this.#entries.delete(name);
  }
}
