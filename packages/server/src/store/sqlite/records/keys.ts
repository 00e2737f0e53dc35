import type { Clock } from '../../../base/clock.ts';
import { storeLimits } from '../../limits.ts';
import type { KeyRecord, NewKey } from '../../records.ts';
import type { Store } from '../../store.ts';
import type { Database } from '../database.ts';
import { build, firstRow, runQuery } from '../build.ts';

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

/** Whether it was put: not while the key is taken. */
export function putKey(
  database: Database,
  clock: Clock,
  { workspaceId, key, expiresAt, result, replaces = false }: NewKey & Pick<KeyRecord, 'workspaceId'>,
): boolean {
  const now = clock.now();
  // Expired keys are removed here only. Some at a time: after a long pause there may be very many.
  database.prepare(REMOVE_EXPIRED).run(now, storeLimits.storeSliceRowsMax);
  const mine = build.deleteFrom('idempotency_keys').where('workspace_id', '=', workspaceId).where('key', '=', key);
  runQuery(database, replaces ? mine : mine.where('expires_at', '<=', now));
  const row = { workspace_id: workspaceId, key, expires_at: expiresAt, result: JSON.stringify(result) };
  return runQuery(database, build.insertInto('idempotency_keys').values(row).orIgnore()) > 0;
}

const REMOVE_EXPIRED = `
  DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys WHERE expires_at <= ? LIMIT ?)`;

function getKey(database: Database, clock: Clock, workspaceId: string, key: string): KeyRecord | undefined {
  const mine = build.selectFrom('idempotency_keys').selectAll().where('workspace_id', '=', workspaceId);
  const row = firstRow(database, mine.where('key', '=', key).where('expires_at', '>', clock.now()));
  if (row === undefined) return undefined;
  return { workspaceId, key, expiresAt: row.expires_at, result: JSON.parse(row.result) as KeyRecord['result'] };
}
