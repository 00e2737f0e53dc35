import { runSql } from './run-sql.ts';

/**
 * What is wrong with the logs, by what they say themselves. Each row has the fence with which it was written: if the rows follow
 * each other without a gap or an overlap and their fences never fall, nobody has written to a session after losing it.
 */
export function findLogProblems(rows: readonly LogRow[]): string[] {
  const problems: string[] = [];
  let [last, fence] = [0, 0];
  for (const [index, row] of rows.entries()) {
    const { session_id: id, head, owner_fence: ownerFence } = row;
    if (id !== rows[index - 1]?.session_id) [last, fence] = [0, 0];
    if (row.first_seq !== null) {
      if (row.first_seq !== last + 1) problems.push(`${id}: ${row.first_seq} comes after ${last}`);
      if (row.last_seq < row.first_seq) problems.push(`${id}: ${row.first_seq} to ${row.last_seq} is no row`);
      if (row.fence < fence)
        problems.push(`${id}: ${row.first_seq} was written with fence ${row.fence} after ${fence}`);
      if (row.fence > ownerFence) problems.push(`${id}: ${row.first_seq} has fence ${row.fence}, which nobody had yet`);
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
  /** Of the whole log, as its session knows it. */
  readonly head: number;
  /** Of whoever owns it, or has owned it last. */
  readonly owner_fence: number;
  /** None if the log is empty. */
  readonly first_seq: number | null;
  readonly last_seq: number;
  readonly fence: number;
}

/** Sorted by session and by number. */
export function readLogs(url: string, schema = 'fleetloom'): readonly LogRow[] {
  const sql = `SELECT coalesce(json_agg(r), '[]') AS rows FROM (
    SELECT l.session_id, l.head, l.fence AS owner_fence, s.first_seq, s.last_seq, s.fence
    FROM ${schema}.logs l LEFT JOIN ${schema}.segments s ON s.session_key = l.session_key
    ORDER BY l.session_id, s.first_seq) AS r`;
  return JSON.parse(runSql(url, sql)) as LogRow[];
}
