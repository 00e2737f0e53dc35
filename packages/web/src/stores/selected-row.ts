import type { ShownRow } from '../model/summary.ts';
import { toRowKey } from './row-key.ts';
import { fleet, ui } from './stores.ts';

/** The thread that is selected in the fleet table. Undefined if no row or a session row is selected. */
export function selectedRow(): ShownRow | undefined {
  return fleet.rows().find((row) => toRowKey(row.sessionId, row.key) === ui.selectedKey);
}
