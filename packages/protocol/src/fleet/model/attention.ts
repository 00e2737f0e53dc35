import type { Slot } from '../slots/slot.ts';
import { type StateId, states } from './thread-state.ts';

/** Sorts rows by attention: by the rank of their state, then longest in that state first. */
export function byAttention<Row extends { readonly state: StateId; readonly slot: Slot }>(
  rows: readonly Row[],
): readonly Row[] {
  return rows.toSorted((left, right) => {
    const rank = states[left.state].rank - states[right.state].rank;
    return rank !== 0 ? rank : (left.slot.since ?? 0) - (right.slot.since ?? 0);
  });
}

/**
 * An order that does not jump: a new order is adopted only after it has been requested for a while, and not while
 * the caller holds the old one. Rows that move under the pointer or the cursor cannot be read or selected.
 */
export class CalmOrder {
  #shown: readonly string[] = [];
  /** Since when the wanted order differs from the shown one. */
  #differsSince: number | undefined;

  /** The keys in the order to show them. */
  order(wanted: readonly string[], nowMs: number, isHeld: boolean, waitMs: number): readonly string[] {
    const known = new Set(wanted);
    const kept = this.#shown.filter((key) => known.has(key));
    const shown = new Set(kept);
    // New keys go to the end at once: that moves no other row.
    this.#shown = [...kept, ...wanted.filter((key) => !shown.has(key))];
    const isSame = this.#shown.every((key, index) => key === wanted[index]);
    // The wanted order changes all the time while many threads work: one wait covers all changes.
    this.#differsSince = isSame ? undefined : (this.#differsSince ?? nowMs);
    const isDue = this.#differsSince !== undefined && nowMs - this.#differsSince >= waitMs;
    if (kept.length === 0 || (isDue && !isHeld)) {
      this.#shown = wanted;
      this.#differsSince = undefined;
    }
    return this.#shown;
  }
}
