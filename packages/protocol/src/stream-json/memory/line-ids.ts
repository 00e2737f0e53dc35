import { MEMORY_LINES_PER_THREAD, SNAPSHOT_LINES_PER_THREAD } from '../base/limits.ts';
import { keepRecent } from '../base/recent-map.ts';

/**
 * The ids of an agent's last lines, as hashes of 53 bits in flat tables: it is asked for every line, and a Set of strings takes
 * several times the memory and the time. Two random ids with equal hashes are not to be expected in the life of a session.
 *
 * Two generations: when the younger is full it becomes the older, so that many ids at least are remembered.
 */
export class LineIds {
  #young = new Float64Array(64);
  #old = new Float64Array(1);
  #size = 0;
  /** The newest hashes, for a snapshot, and some more. */
  readonly newest: number[] = [];

  /** Whether the id is remembered; remembers it. */
  saw(id: string): boolean {
    let h1 = id.length;
    let h2 = 0;
    // All of it, since not in every uuid the same digits are random. Past the end: NaN, which shifts as 0.
    for (let i = 0; i < id.length; i += 4) {
      h1 = Math.imul(h1 ^ id.charCodeAt(i) ^ (id.charCodeAt(i + 1) << 16), 0x5f356495) ^ (h1 >>> 15);
      h2 = Math.imul(h2 ^ id.charCodeAt(i + 2) ^ (id.charCodeAt(i + 3) << 16), 0x2c1b3c6d) ^ (h2 >>> 13);
    }
    return this.add((Math.imul(h1 ^ h2, 0x5f356495) >>> 0) * 2 ** 21 + (h2 >>> 11) || 1); // 0 marks an empty slot
  }

  add(hash: number): boolean {
    const young = this.#young;
    const at = slotOf(young, hash);
    if (young[at] || this.#old[slotOf(this.#old, hash)]) return true;
    young[at] = hash;
    // Eight times as many as are asked for: the list is cut that much less often.
    keepRecent(this.newest, hash, SNAPSHOT_LINES_PER_THREAD * 8);
    if (++this.#size === MEMORY_LINES_PER_THREAD) {
      this.#old = young;
      this.#young = new Float64Array(64);
      this.#size = 0;
    } else if (this.#size * 2 > young.length) this.#young = grow(young);
    return false;
  }
}

/** Where the hash stands, or would. */
function slotOf(table: Float64Array, hash: number): number {
  const mask = table.length - 1;
  let at = (hash / 2 ** 21) & mask;
  while (table[at] && table[at] !== hash) at = (at + 1) & mask;
  return at;
}

function grow(table: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(table.length * 4);
  for (const hash of table) if (hash) larger[slotOf(larger, hash)] = hash;
  return larger;
}
