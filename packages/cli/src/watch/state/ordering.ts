import { byAttention, CalmOrder, type ThreadRow, toThreadState } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import type { PendingCall } from './pending-calls.ts';

/** The orders of the list of threads. */
export const orders = ['tree', 'attention', 'cost', 'age'] as const;
/** `attention`: threads that need a person first, then failed and stalled ones (SPEC F83). */
export type Order = (typeof orders)[number];

/** Sorts threads and keeps the order for a while, because moving rows cannot be read or selected. */
export class Ordering {
  #order: Order | undefined;
  #calm = new CalmOrder();

  sort(
    order: Exclude<Order, 'tree'>,
    rows: readonly ThreadRow[],
    pendingCalls: readonly PendingCall[],
    timeMs: number,
    nowMs: number,
  ): readonly ThreadRow[] {
    if (order !== this.#order) {
      this.#order = order;
      this.#calm = new CalmOrder();
    }
    const wanted = sortBy(order, rows, pendingCalls, timeMs).map(({ key }) => key);
    const byKey = new Map(rows.map((row) => [row.key, row]));
    return this.#calm.order(wanted, nowMs, false, limits.orderMsMin).map((key) => byKey.get(key)!);
  }
}

function sortBy(
  order: Exclude<Order, 'tree'>,
  rows: readonly ThreadRow[],
  pendingCalls: readonly PendingCall[],
  timeMs: number,
): readonly Pick<ThreadRow, 'key'>[] {
  if (order === 'cost') return rows.toSorted((left, right) => right.usage.costUsd - left.usage.costUsd);
  if (order === 'age') return rows.toSorted((left, right) => (left.slot.lastAt ?? 0) - (right.slot.lastAt ?? 0));
  const waiting = new Set(pendingCalls.map(({ key }) => key));
  return byAttention(
    rows.map(({ key, slot }) => ({
      key,
      slot,
      state: waiting.has(key) ? ('needs' as const) : toThreadState(slot, timeMs).id,
    })),
  );
}
