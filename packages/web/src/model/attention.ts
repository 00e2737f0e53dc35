import { states } from './states.ts';
import type { ShownRow } from './summary.ts';

/** Who needs somebody first: needs you, errors, stalled; among equals the one that is longest in its state. */
export function byAttention(rows: readonly ShownRow[]): readonly ShownRow[] {
  return rows.toSorted((left, right) => {
    const rank = states[left.state].rank - states[right.state].rank;
    return rank !== 0 ? rank : (left.slot.since ?? 0) - (right.slot.since ?? 0);
  });
}

/**
 * An order that does not jump. A new one is taken over only when it was wanted for a while, and not while the pointer is on
 * the rows: nobody should click on what moved there a moment ago.
 */
export class CalmOrder {
  #shown: readonly string[] = [];
  /** Since when another order is wanted than the one that is shown. */
  #differsSince: number | undefined;

  /** The keys in the order to show them. */
  order(wanted: readonly string[], now: number, isHeld: boolean, waitMs: number): readonly string[] {
    const known = new Set(wanted);
    const kept = this.#shown.filter((key) => known.has(key));
    const shown = new Set(kept);
    // New ones go to the end at once: that moves nobody.
    this.#shown = [...kept, ...wanted.filter((key) => !shown.has(key))];
    const isSame = this.#shown.every((key, index) => key === wanted[index]);
    // What is wanted changes all the time while many work; it waits once for all of it.
    this.#differsSince = isSame ? undefined : (this.#differsSince ?? now);
    const isDue = this.#differsSince !== undefined && now - this.#differsSince >= waitMs;
    if (kept.length === 0 || (isDue && !isHeld)) {
      this.#shown = wanted;
      this.#differsSince = undefined;
    }
    return this.#shown;
  }
}
