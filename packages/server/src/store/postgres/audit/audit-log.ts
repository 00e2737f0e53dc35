import type { JsonObject } from '../../../base/json/json.ts';
import { type AuditLog, CHAIN_START, type NewAuditEntry, toEntryText } from '../../audit.ts';
import type { Connection, Result, Statement } from '../connection.ts';
import type { Database } from '../database.ts';

/** The audit log of all workspaces. The database computes the hashes, so that a chain is locked only from the append to the commit. */
export function createAuditLog(database: Database): AuditLog {
  return {
    append: async (entries) => {
      if (entries.length === 0) return;
      await database.transaction(async (connection) => await connection.queries([toAudit(entries)]));
    },
    list: async ({ workspaceId, after, limit }) => {
      const { rows } = await database.read<EntryRow>(LIST, [workspaceId, after, limit]);
      return rows.map(({ seq, time, hash, data }) => ({
        workspaceId,
        seq,
        time,
        hash,
        data: JSON.parse(data) as JsonObject,
      }));
    },
    ends: async (workspaceId) => {
      const [row] = (await database.read<ChainRow>(CHAIN, [workspaceId])).rows;
      if (row === undefined) return { start: CHAIN_START, head: CHAIN_START };
      return { start: { seq: row.start_seq, hash: row.start_hash }, head: { seq: row.seq, hash: row.hash } };
    },
    heads: async () => {
      const { rows } = await database.read<ChainRow>('SELECT workspace_id, seq, hash FROM ~audit_chains');
      return new Map(rows.map(({ workspace_id: id, seq, hash }) => [id, { seq, hash }]));
    },
    prune: async (before, limit) => {
      const { rows } = await database.read<{ workspace_id: string }>('SELECT workspace_id FROM ~audit_chains');
      let count = 0;
      for (const { workspace_id: workspaceId } of rows) count += await pruneChain(database, workspaceId, before, limit);
      return count;
    },
  };
}

/**
 * The statement that appends entries. It locks the chains of their workspaces until the commit, so it is the last of its transaction:
 * two nodes never wait for each other.
 */
export function toAudit(entries: readonly NewAuditEntry[]): Statement {
  const sorted = entries.toSorted((a, b) =>
    a.workspaceId < b.workspaceId ? -1 : a.workspaceId === b.workspaceId ? 0 : 1,
  );
  const workspaces = sorted.map(({ workspaceId }) => workspaceId);
  return { sql: APPEND, values: [workspaces, sorted.map(({ data }) => toEntryText(data))] };
}

/** Runs a statement that changes rows and, if it changed any, appends the entry that records it. */
export async function writeAudited<Row>(
  database: Database,
  audit: NewAuditEntry | undefined,
  { sql, values }: Statement,
): Promise<Result<Row>> {
  if (audit === undefined) return await database.write<Row>(sql, values);
  return await database.transaction(async (connection) => {
    const result = await connection.query<Row>(sql, values);
    if (result.count > 0) await appendAudit(connection, audit);
    return result;
  });
}

/** Must run as the last statement of a transaction. */
export async function appendAudit(connection: Connection, audit: NewAuditEntry | undefined): Promise<void> {
  if (audit !== undefined) await connection.queries([toAudit([audit])]);
}

async function pruneChain(database: Database, workspaceId: string, before: number, limit: number): Promise<number> {
  return await database.transaction(async (connection) => {
    await connection.query(LOCK, [workspaceId]);
    const [last] = (await connection.query<EntryRow>(LAST_BEFORE, [workspaceId, limit, before])).rows;
    if (last === undefined) return 0;
    const { count } = await connection.query(REMOVE, [workspaceId, last.seq]);
    await connection.query(SET_START, [workspaceId, last.seq, last.hash]);
    return count;
  });
}

interface ChainRow {
  readonly workspace_id: string;
  readonly seq: number;
  readonly hash: string;
  readonly start_seq: number;
  readonly start_hash: string;
}

interface EntryRow {
  readonly seq: number;
  readonly time: number;
  readonly hash: string;
  readonly data: string;
}

const APPEND = 'SELECT ~append_audit($1::text[], $2::text[], @now)';
const LIST =
  'SELECT seq, time, hash, data FROM ~audit_entries WHERE workspace_id = $1 AND seq > $2 ORDER BY seq LIMIT $3';
const CHAIN = 'SELECT seq, hash, start_seq, start_hash FROM ~audit_chains WHERE workspace_id = $1';
const LOCK = 'SELECT FROM ~audit_chains WHERE workspace_id = $1 FOR UPDATE';
// Entries are removed up to the first one that is younger, also where a clock was set back in between.
const LAST_BEFORE = `SELECT seq, time, hash, data FROM (
    SELECT *, max(time) OVER (ORDER BY seq) AS newest
    FROM (SELECT * FROM ~audit_entries WHERE workspace_id = $1 ORDER BY seq LIMIT $2) AS first
  ) AS dated WHERE newest < $3 ORDER BY seq DESC LIMIT 1`;
const REMOVE = 'DELETE FROM ~audit_entries WHERE workspace_id = $1 AND seq <= $2';
const SET_START = 'UPDATE ~audit_chains SET start_seq = $2, start_hash = $3 WHERE workspace_id = $1';
