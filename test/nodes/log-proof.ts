import { runSql } from './run-sql.ts';

/**
 * Finds problems in the stored logs. Each row has the fence with which it was written: if rows have no gaps or overlaps and
 * their fences never decrease, no node has written to a session after losing it.
 */
export function findLogProblems(rows: readonly LogRow[]): string[] {
  const problems: string[] = [];
  let [last, fence] = [0, 0];
  for (const [index, row] of rows.entries()) {
    const { session_id: id, head, owner_fence: ownerFence } = row;
    if (id !== rows[index - 1]?.session_id) [last, fence] = [0, 0];
    if (row.first_seq !== null) {
      if (row.first_seq !== last + 1) problems.push(`${id}: ${row.first_seq} comes after ${last}`);
      if (row.last_seq < row.first_seq) problems.push(`${id}: ${row.first_seq} to ${row.last_seq} is not a valid row`);
      if (row.fence < fence)
        problems.push(`${id}: ${row.first_seq} was written with fence ${row.fence} after ${fence}`);
      if (row.fence > ownerFence)
        problems.push(`${id}: ${row.first_seq} has fence ${row.fence}, which no node had yet`);
      last = row.last_seq;
      fence = row.fence;
    }
    const isLast = id !== rows[index + 1]?.session_id;
    if (isLast && last !== head) problems.push(`${id}: the log ends with ${last} and not with ${head}`);
  }
  return problems;
}

export interface LogRow {
  readonly session_id: string;
  /** The head of the whole log in the session's record. */
  readonly head: number;
  /** The fence of the current or last owner. */
  readonly owner_fence: number;
  /** Null if the log is empty. */
  readonly first_seq: number | null;
  readonly last_seq: number;
  readonly fence: number;
}

/** Reads all rows, sorted by session and `seq`. */
export function readLogs(url: string, schema = 'fleetloom'): readonly LogRow[] {
  const sql = `SELECT coalesce(json_agg(r), '[]') AS rows FROM (
    SELECT l.session_id, l.head, l.fence AS owner_fence, s.first_seq, s.last_seq, s.fence
    FROM ${schema}.logs l LEFT JOIN ${schema}.segments s ON s.session_key = l.session_key
    ORDER BY l.session_id, s.first_seq) AS r`;
  return JSON.parse(runSql(url, sql)) as LogRow[];
}
