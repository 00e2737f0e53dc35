import { toSlotState } from '../fleet/slot-state.ts';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { limits } from '../limits.ts';
import type { Ask } from './asks.ts';

export const orders = ['tree', 'attention', 'cost', 'age'] as const;
/** `attention`: who needs somebody, who failed, who is stalled, who has been as it is for longest. */
export type Order = (typeof orders)[number];

/** Sorts threads, and lets them stand for a while: rows that jump cannot be read or chosen. */
export class Ordering {
  #order: Order | undefined;
  #ranks = new Map<string, number>();
  #sortedAtMs = Number.NEGATIVE_INFINITY;

  sort(
    order: Exclude<Order, 'tree'>,
    rows: readonly ThreadRow[],
    asks: readonly Ask[],
    timeMs: number,
    nowMs: number,
  ): readonly ThreadRow[] {
    const isOld = Math.abs(nowMs - this.#sortedAtMs) >= limits.orderMsMin;
    if (order !== this.#order || isOld) {
      const asking = new Set(asks.map(({ key }) => key));
      const sorted = rows.toSorted((left, right) => compare(order, left, right, asking, timeMs));
      this.#order = order;
      this.#sortedAtMs = nowMs;
      this.#ranks = new Map(sorted.map(({ key }, index) => [key, index]));
    }
    // Who has come since stands at the end.
    const rankOf = ({ key }: ThreadRow) => this.#ranks.get(key) ?? rows.length;
    return rows.toSorted((left, right) => rankOf(left) - rankOf(right));
  }
}

function compare(
  order: Exclude<Order, 'tree'>,
  left: ThreadRow,
  right: ThreadRow,
  asking: ReadonlySet<string>,
  timeMs: number,
): number {
  if (order === 'cost') return right.usage.costUsd - left.usage.costUsd;
  if (order === 'age') return (left.slot.lastAt ?? 0) - (right.slot.lastAt ?? 0);
  const urgency = (row: ThreadRow) => urgencyOf(row, asking, timeMs);
  return urgency(left) - urgency(right) || (left.slot.since ?? 0) - (right.slot.since ?? 0);
}

function urgencyOf({ key, slot }: ThreadRow, asking: ReadonlySet<string>, timeMs: number): number {
  const { word } = toSlotState(slot, timeMs);
  if (asking.has(key) || slot.state === 'needs_approval') return 0;
  if (slot.state === 'failed' && slot.stopReason !== 'cancelled') return 1;
  if (word === 'stalled' || slot.state === 'lost') return 2;
  return slot.state === 'running' ? 3 : 4;
}
