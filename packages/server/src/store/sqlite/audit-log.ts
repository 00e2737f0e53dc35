import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { type AuditLog, CHAIN_START, type NewAuditEntry, toEntryHash, toEntryText } from '../audit.ts';
import type { Database } from './database.ts';

/** Appends an entry in the transaction of the change that it records. */
export type AppendAudit = (entry: NewAuditEntry | undefined) => void;

/** The chains of all workspaces. */
export function createAuditLog(
  database: Database,
  clock: Clock,
): { readonly log: AuditLog; readonly append: AppendAudit } {
  const findChain = (workspaceId: string) => database.prepare<ChainRow>(CHAIN).get(workspaceId) ?? EMPTY;
  const append: AppendAudit = (entry) => {
    if (entry === undefined) return;
    const { workspaceId } = entry;
    const before = findChain(workspaceId);
    const text = toEntryText(entry.data);
    const place = { workspaceId, seq: before.seq + 1, time: clock.now() };
    const hash = toEntryHash(before.hash, place, text);
    database.prepare(INSERT).run(workspaceId, place.seq, place.time, hash, text);
    database.prepare(SET_CHAIN).run(workspaceId, place.seq, hash, before.start_seq, before.start_hash);
  };
  const log: AuditLog = {
    append: async (entries) => database.transaction(() => entries.forEach(append)),
    list: async ({ workspaceId, after, limit }) =>
      database
        .prepare<EntryRow>(LIST)
        .all(workspaceId, after, limit)
        .map(({ seq, time, hash, data }) => ({ workspaceId, seq, time, hash, data: JSON.parse(data) as JsonObject })),
    ends: async (workspaceId) => {
      const { seq, hash, start_seq, start_hash } = findChain(workspaceId);
      return { start: { seq: start_seq, hash: start_hash }, head: { seq, hash } };
    },
    heads: async () =>
      new Map(
        database
          .prepare<ChainRow>(CHAINS)
          .all()
          .map(({ workspace_id: id, seq, hash }) => [id, { seq, hash }]),
      ),
    prune: async (before, limit) =>
      database.transaction(() => {
        let count = 0;
        for (const { workspace_id: workspaceId } of database.prepare<ChainRow>(CHAINS).all()) {
          const last = database.prepare<EntryRow>(LAST_BEFORE).get(workspaceId, limit, before);
          if (last === undefined) continue;
          count += database.prepare(REMOVE).run(workspaceId, last.seq);
          database.prepare(SET_START).run(last.seq, last.hash, workspaceId);
        }
        return count;
      }),
  };
  return { log, append };
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

const EMPTY = { ...CHAIN_START, start_seq: CHAIN_START.seq, start_hash: CHAIN_START.hash };

const CHAIN = 'SELECT * FROM audit_chains WHERE workspace_id = ?';
const CHAINS = 'SELECT * FROM audit_chains';
const INSERT = 'INSERT INTO audit_entries (workspace_id, seq, time, hash, data) VALUES (?, ?, ?, ?, ?)';
const SET_CHAIN = `INSERT INTO audit_chains (workspace_id, seq, hash, start_seq, start_hash) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (workspace_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`;
const SET_START = 'UPDATE audit_chains SET start_seq = ?, start_hash = ? WHERE workspace_id = ?';
const LIST = 'SELECT seq, time, hash, data FROM audit_entries WHERE workspace_id = ? AND seq > ? ORDER BY seq LIMIT ?';
// Entries are removed up to the first one that is younger, also where a clock was set back in between.
const LAST_BEFORE = `SELECT seq, time, hash, data FROM (
    SELECT *, max(time) OVER (ORDER BY seq) AS newest
    FROM (SELECT * FROM audit_entries WHERE workspace_id = ? ORDER BY seq LIMIT ?)
  ) WHERE newest < ? ORDER BY seq DESC LIMIT 1`;
const REMOVE = 'DELETE FROM audit_entries WHERE workspace_id = ? AND seq <= ?';
