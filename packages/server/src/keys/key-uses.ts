import type { Clock } from '../base/clock.ts';
import type { KeyStorage } from './key-storage.ts';
import { keyLimits } from './limits.ts';

/** When keys were last used. Requests only take a note; {@link KeyUses.save} stores the notes. */
export class KeyUses {
  readonly #storage: Pick<KeyStorage, 'readUses' | 'writeUses'>;
  readonly #clock: Clock;
  /** The last use of each key that this process knows of. */
  readonly #known = new Map<string, number>();
  /** Uses that are not stored yet. */
  #unsaved = new Map<string, number>();

  constructor(storage: Pick<KeyStorage, 'readUses' | 'writeUses'>, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  note(id: string): void {
    const now = this.#clock.now();
    if (now - (this.#known.get(id) ?? -Infinity) < keyLimits.keyUseStepMs) return;
    this.#known.set(id, now);
    this.#unsaved.set(id, now);
  }

  async save(): Promise<void> {
    const uses = this.#unsaved;
    if (uses.size === 0) return;
    this.#unsaved = new Map();
    try {
      await this.#storage.writeUses(uses);
    } catch (error) {
      // Stored with the next ones.
      this.#unsaved = new Map([...uses, ...this.#unsaved]);
      throw error;
    }
  }

  /** The uses of all processes. */
  async all(): Promise<ReadonlyMap<string, number>> {
    const all = new Map(await this.#storage.readUses());
    for (const [id, at] of this.#known) all.set(id, Math.max(at, all.get(id) ?? -Infinity));
    return all;
  }
}
