import type { Clock } from '../../../base/clock.ts';
import { storeLimits } from '../../limits.ts';
import type { KeyRecord, NewKey } from '../../records.ts';
import type { Store } from '../../store.ts';
import type { Database } from '../database.ts';

export function createKeys(database: Database, clock: Clock): Store['keys'] {
  return {
    get: async (workspaceId, key) => getKey(database, clock, workspaceId, key),
    putIfAbsent: async (record) =>
      database.transaction(() => {
        const isNew = putKey(database, clock, record);
        return { isNew, record: getKey(database, clock, record.workspaceId, record.key)! };
      }),
  };
}

/** Stores a key unless it is in use. Returns whether it was stored. */
export function putKey(
  database: Database,
  clock: Clock,
  { workspaceId, key, expiresAt, result, replaces = false }: NewKey & Pick<KeyRecord, 'workspaceId'>,
): boolean {
  const now = clock.now();
  // Expired keys are removed here only. Some at a time: after a long pause there may be very many.
  database.prepare(REMOVE_EXPIRED).run(now, storeLimits.storeSliceRowsMax);
  const values = [workspaceId, key, expiresAt, JSON.stringify(result), now, replaces ? 1 : 0];
  return database.prepare(PUT).run(...values) > 0;
}

const REMOVE_EXPIRED = `
  DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys WHERE expires_at <= ? LIMIT ?)`;
const PUT = `
  INSERT INTO idempotency_keys AS k (workspace_id, key, expires_at, result) VALUES (?, ?, ?, ?)
  ON CONFLICT (workspace_id, key) DO UPDATE SET expires_at = excluded.expires_at, result = excluded.result
  WHERE k.expires_at <= ? OR ?`;
const GET = 'SELECT expires_at, result FROM idempotency_keys WHERE workspace_id = ? AND key = ? AND expires_at > ?';

function getKey(database: Database, clock: Clock, workspaceId: string, key: string): KeyRecord | undefined {
  const row = database.prepare<{ expires_at: number; result: string }>(GET).get(workspaceId, key, clock.now());
  if (row === undefined) return undefined;
  return { workspaceId, key, expiresAt: row.expires_at, result: JSON.parse(row.result) as KeyRecord['result'] };
}
