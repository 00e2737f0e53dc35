import type { ShownSession } from '../app/fleet-store.ts';
import type { UiStore } from '../app/ui-store.ts';
import { byAttention, type CalmOrder } from '../model/attention.ts';
import { matches, parseQuery } from '../model/search-query.ts';
import { groupOf, type ShownRow } from '../model/summary.ts';
import { limits } from '../limits.ts';

/** A line of the table: a session, or a thread of one. */
export type TableRow =
  | { readonly type: 'session'; readonly key: string; readonly shown: ShownSession; readonly isOpen: boolean }
  | { readonly type: 'thread'; readonly key: string; readonly row: ShownRow };

export interface TableInput {
  readonly sessions: readonly ShownSession[];
  readonly ui: Pick<UiStore, 'query' | 'group' | 'sort' | 'collapsed'>;
  readonly now: number;
  readonly order: CalmOrder;
  /** The pointer is on the rows. */
  readonly isHeld: boolean;
}

export function toTableRows({ sessions, ui, now, order, isHeld }: TableInput): readonly TableRow[] {
  const query = parseQuery(ui.query);
  const isFiltered = ui.group !== undefined || query.length > 0;
  const isWanted = (row: ShownRow) =>
    (ui.group === undefined || groupOf(row.state) === ui.group) && matches(row, query);
  if (ui.sort === 'attention') return sortByAttention(sessions, isWanted, order, now, isHeld);
  const hasHeads = sessions.length > 1;
  return sessions.flatMap((shown, index) => {
    const isOpen = isSessionOpen(shown, index === 0, ui.collapsed);
    const head: TableRow[] = hasHeads
      ? [{ type: 'session', key: shown.session.id, shown, isOpen: isOpen || isFiltered }]
      : [];
    const wanted = shown.rows.filter(
      (row) => isWanted(row) && !row.above.some((key) => ui.collapsed.has(toKey(row.sessionId, key))),
    );
    const rows = isOpen || !hasHeads || isFiltered ? wanted : [];
    if (isFiltered && rows.length === 0) return [];
    return [...head, ...rows.map((row): TableRow => ({ type: 'thread', key: toKey(row.sessionId, row.key), row }))];
  });
}

export function toKey(sessionId: string, threadKey: string): string {
  return `${sessionId}/${threadKey}`;
}

/** Those at work and the newest are open unless somebody has shut them. */
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
  const byKey = new Map(rows.map((row) => [toKey(row.sessionId, row.key), row]));
  return order.order([...byKey.keys()], now, isHeld, limits.reorderMs).flatMap((key) => {
    const row = byKey.get(key);
    return row === undefined ? [] : [{ type: 'thread' as const, key, row }];
  });
}
