import { SUMMARY_COLUMNS, SUMMARY_REPLACED } from '../../sql/summaries.ts';
import type { Statement } from '../connection.ts';

// Statements for any number of rows: a list for each column is sent, so the text is the same however many there are. Without
// rows there is no statement. Columns are given as `name type, …`.

/** Rows of values, in the order of the columns. */
export type Rows = readonly (readonly unknown[])[];

/** One statement that inserts all rows; undefined without rows. */
export function insertRows(table: string, columns: string, rows: Rows): Statement | undefined {
  if (rows.length === 0) return undefined;
  const names = columns.split(', ').map((column) => column.split(' ')[0]);
  const values = names.map((name, index) =>
    columns.split(', ')[index]!.endsWith(' json') ? `g.${name}::json` : `g.${name}`,
  );
  // In the given order, because inputs are numbered by it.
  const sql = `INSERT INTO ~${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${toGiven(columns)} ORDER BY g.place`;
  return { sql, values: toLists(rows) };
}

/** Null values leave a column unchanged: a patch cannot set a column to null. */
export function updateRows(table: string, where: string, columns: string, also: string | undefined, rows: Rows) {
  if (rows.length === 0) return undefined;
  const given = toGiven(`${columns}, status text, archived_at int8, data json, updated_at int8`);
  const set = `status = coalesce(g.status, t.status), archived_at = coalesce(g.archived_at, t.archived_at),
    data = coalesce(g.data::json, t.data), updated_at = g.updated_at${also === undefined ? '' : `, ${also}`}`;
  return { sql: `UPDATE ~${table} t SET ${set} FROM ${given} WHERE t.${where}`, values: toLists(rows) };
}

/** One statement that writes the summaries of sessions. */
export function putSummaries(rows: Rows): Statement | undefined {
  const columns = `session_key int8, session_id text, workspace_id text, ${SUMMARY_COLUMNS}`;
  const inserted = insertRows('summaries', columns, rows);
  if (inserted === undefined) return undefined;
  return { ...inserted, sql: `${inserted.sql} ON CONFLICT (session_key) DO UPDATE SET ${SUMMARY_REPLACED}` };
}

/** One statement that resolves approvals. */
export function resolveRows(rows: Rows): Statement | undefined {
  if (rows.length === 0) return undefined;
  const given = toGiven('key int8, id text, time int8, data json');
  const set = 'resolved_at = g.time, resolution = g.data::json';
  const sql = `UPDATE ~approvals t SET ${set} FROM ${given} WHERE t.session_key = g.key AND t.id = g.id`;
  return { sql, values: toLists(rows) };
}

/** One statement that writes the ends of runs. */
export function endRuns(rows: Rows): Statement | undefined {
  if (rows.length === 0) return undefined;
  const given = toGiven('key int8, id text, seq int8, time int8');
  const sql = `UPDATE ~runs t SET last_seq = g.seq, ended_at = g.time FROM ${given}
    WHERE t.session_key = g.key AND t.id = g.id AND t.ended_at IS NULL`;
  return { sql, values: toLists(rows) };
}

/** One statement that deletes rows by their keys. */
export function deleteRows(sql: string, keys: readonly number[]): Statement | undefined {
  return keys.length === 0 ? undefined : { sql, values: [keys] };
}

export function deleteParts(table: string, parts: readonly { key: number; id: string }[]): Statement | undefined {
  if (parts.length === 0) return undefined;
  const sql = `DELETE FROM ~${table} t USING ${toGiven('key int8, id text')} WHERE t.session_key = g.key AND t.id = g.id`;
  return { sql, values: toLists(parts.map(({ key, id }) => [key, id])) };
}

/** Deletes expired keys and keys to be replaced. If another process is faster the insert fails, and the commit is retried. */
export function freeKeys(rows: Rows): Statement | undefined {
  if (rows.length === 0) return undefined;
  const given = toGiven('workspace_id text, key text, replaces bool');
  const sql = `DELETE FROM ~idempotency_keys t USING ${given}
    WHERE t.workspace_id = g.workspace_id AND t.key = g.key AND (g.replaces OR t.expires_at <= @now)`;
  return { sql, values: toLists(rows) };
}

function toGiven(columns: string): string {
  const parts = columns.split(', ').map((column) => column.split(' '));
  const lists = parts.map(([, type], index) => `$${index + 1}::${type === 'json' ? 'text' : type}[]`);
  return `unnest(${lists.join(', ')}) WITH ORDINALITY AS g (${parts.map(([name]) => name).join(', ')}, place)`;
}

function toLists(rows: Rows): unknown[][] {
  return rows[0]!.map((_, index) => rows.map((row) => row[index]));
}
