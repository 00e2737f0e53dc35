import { MEMORY_LINES_PER_THREAD, SNAPSHOT_LINES_PER_THREAD } from './limits.ts';

/**
 * The ids of an agent's last lines, as pairs of hashes in flat tables: it is asked for every line, and a Set of strings takes
 * several times the memory and the time. Two random ids with equal pairs are not to be expected in the life of a session.
 *
 * Two generations: when the younger is full it becomes the older, so that many ids at least are remembered.
 */
export class LineIds {
  #young = new Int32Array(128);
  #old = new Int32Array(2);
  #size = 0;
  /** The newest pairs, for a snapshot; a ring. */
  readonly #newest = new Int32Array(2 * SNAPSHOT_LINES_PER_THREAD);
  #next = 0;

  /** Whether the id is remembered; remembers it. */
  saw(id: string): boolean {
    let h1 = 0x9e3779b9 | 0;
    let h2 = id.length;
    for (let i = 0; i < id.length; i += 2) {
      if (i === 4 && id.length === UUID_LENGTH) i = 24; // 16 of its digits are enough to tell random ids apart
      const pair = id.charCodeAt(i) | (id.charCodeAt(i + 1) << 16); // past the end: NaN, which shifts as 0
      h1 = Math.imul(h1 ^ pair, 0x5f356495) ^ (h1 >>> 15);
      h2 = Math.imul(h2 + pair, 0x2c1b3c6d) ^ (h2 >>> 13);
    }
    return this.#add(h1, h2 || 1); // 0 marks an empty slot
  }

  #add(h1: number, h2: number): boolean {
    const young = this.#young;
    const at = slotOf(young, h1, h2);
    if (young[at + 1] || this.#old[slotOf(this.#old, h1, h2) + 1]) return true;
    young[at] = this.#newest[this.#next] = h1;
    young[at + 1] = this.#newest[this.#next + 1] = h2;
    this.#next = (this.#next + 2) % this.#newest.length;
    if (++this.#size === MEMORY_LINES_PER_THREAD) {
      this.#old = young;
      this.#young = new Int32Array(128);
      this.#size = 0;
    } else if (this.#size * 4 > young.length) this.#young = grow(young);
    return false;
  }

  /** Adds what `newest` gave; an unused place of the ring is two zeros. */
  restore(pairs: number[]): void {
    for (let i = 0; i + 1 < pairs.length; i += 2)
      if (pairs[i + 1]) this.#add(pairs[i] as number, pairs[i + 1] as number);
  }

  /** The newest pairs, oldest first. */
  newest(): number[] {
    return [...this.#newest.subarray(this.#next), ...this.#newest.subarray(0, this.#next)];
  }
}

const UUID_LENGTH = 36;

/** Where the pair stands, or would. */
function slotOf(table: Int32Array, h1: number, h2: number): number {
  const mask = table.length - 2;
  for (let at = ((h1 ^ (h2 >>> 11)) << 1) & mask; ; at = (at + 2) & mask) {
    if (table[at + 1] === 0 || (table[at] === h1 && table[at + 1] === h2)) return at;
  }
}

function grow(table: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(table.length * 2);
  for (let i = 0; i < table.length; i += 2) {
    if (table[i + 1] === 0) continue;
    const at = slotOf(larger, table[i] as number, table[i + 1] as number);
    larger[at] = table[i] as number;
    larger[at + 1] = table[i + 1] as number;
  }
  return larger;
}
