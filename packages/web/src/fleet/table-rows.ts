import type { ShownSession } from '../stores/fleet-store.ts';
import { toRowKey } from '../stores/row-key.ts';
import type { UiStore } from '../stores/ui-store.ts';
import { byAttention, type CalmOrder } from '@fleetloom/protocol/fleet';
import { matches, parseQuery } from '../model/search-query.ts';
import { groupOf, type ShownRow } from '../model/summary.ts';
import { tableLimits } from './limits.ts';

/** A row of the table: a session, or one of its threads. */
export type TableRow =
  | { readonly type: 'session'; readonly key: string; readonly shown: ShownSession; readonly isOpen: boolean }
  | { readonly type: 'thread'; readonly key: string; readonly row: ShownRow };

/** The input of `toTableRows`. */
export interface TableInput {
  readonly sessions: readonly ShownSession[];
  readonly ui: Pick<UiStore, 'query' | 'group' | 'sort' | 'collapsed'>;
  readonly now: number;
  readonly order: CalmOrder;
  /** Whether the pointer is over the rows: then the order does not change. */
  readonly isHeld: boolean;
}

/** The rows of the table in display order, filtered. */
export function toTableRows({ sessions, ui, now, order, isHeld }: TableInput): readonly TableRow[] {
  const query = parseQuery(ui.query);
  const isFiltered = ui.group !== undefined || query.length > 0;
  const isWanted = (row: ShownRow) =>
    (ui.group === undefined || groupOf(row.state) === ui.group) && matches(row, query);
  if (ui.sort === 'attention') return sortByAttention(sessions, isWanted, order, now, isHeld);
  const hasSessionRows = sessions.length > 1;
  return sessions.flatMap((shown, index) => {
    const isOpen = isSessionOpen(shown, index === 0, ui.collapsed);
    const head: TableRow[] = hasSessionRows
      ? [{ type: 'session', key: shown.session.id, shown, isOpen: isOpen || isFiltered }]
      : [];
    const wanted = shown.rows.filter(
      (row) => isWanted(row) && !row.above.some((key) => ui.collapsed.has(toRowKey(row.sessionId, key))),
    );
    const rows = isOpen || !hasSessionRows || isFiltered ? wanted : [];
    if (isFiltered && rows.length === 0) return [];
    return [...head, ...rows.map((row): TableRow => ({ type: 'thread', key: toRowKey(row.sessionId, row.key), row }))];
  });
}

/** Running sessions and the newest one are expanded unless the user collapsed them. */
function isSessionOpen({ session, slots }: ShownSession, isNewest: boolean, collapsed: ReadonlySet<string>): boolean {
  if (collapsed.has(`shut ${session.id}`)) return false;
  if (collapsed.has(`open ${session.id}`)) return true;
  return isNewest || slots.runs.at(-1)?.state === 'running';
}

function sortByAttention(
  sessions: readonly ShownSession[],
  isWanted: (row: ShownRow) => boolean,
  order: CalmOrder,
  now: number,
  isHeld: boolean,
): readonly TableRow[] {
  const rows = byAttention(sessions.flatMap(({ rows: all }) => all.filter(isWanted)));
  const byKey = new Map(rows.map((row) => [toRowKey(row.sessionId, row.key), row]));
  return order.order([...byKey.keys()], now, isHeld, tableLimits.reorderMs).flatMap((key) => {
    const row = byKey.get(key);
    return row === undefined ? [] : [{ type: 'thread' as const, key, row }];
  });
}
