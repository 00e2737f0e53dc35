import { tokensOf } from '@fleetloom/protocol/fleet';
import type { ShownRow } from '../model/summary.ts';

/** The columns without a value in any row. They are hidden, and the other columns get their space. */
export function toEmptyColumns(rows: readonly ShownRow[]): readonly string[] {
  const columns: Readonly<Record<string, (row: ShownRow) => boolean>> = {
    task: ({ slot, level }) => level > 0 && (slot.task ?? '') !== '',
    model: ({ slot }) => (slot.model ?? '') !== '',
    context: ({ slot }) => slot.context !== null,
    tokens: ({ usage }) => tokensOf(usage) > 0,
    cost: ({ usage }) => hasCost(usage),
    below: ({ hasChildren, usageBelow }) => hasChildren && hasCost(usageBelow),
    errors: ({ errors }) => errors > 0,
  };
  return Object.entries(columns).flatMap(([name, hasValue]) => (rows.some(hasValue) ? [] : [name]));
}

function hasCost({ costUsd, requestsWithoutCost }: ShownRow['usage']): boolean {
  return costUsd > 0 || requestsWithoutCost > 0;
}
