/**
 * Values by key, never changed in place. While a transaction is open each change records how to revert it, which is
 * all that a rollback needs.
 */
export class Table<Value> {
  readonly #values = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value, undo?: Undo): void {
    const before = this.#values.get(key);
    this.#values.set(key, value);
    undo?.push(() => (before === undefined ? this.#values.delete(key) : this.#values.set(key, before)));
  }

  delete(key: string, undo?: Undo): void {
    const before = this.#values.get(key);
    if (before === undefined) return;
    this.#values.delete(key);
    undo?.push(() => this.#values.set(key, before));
  }

  entries(): [string, Value][] {
    return [...this.#values];
  }

  values(): Value[] {
    return [...this.#values.values()];
  }
}

/** Functions that revert the changes of a transaction, in reverse order. */
export type Undo = (() => unknown)[];
