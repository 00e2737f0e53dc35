import { limits } from '../../base/limits.ts';
import type { Database } from './database.ts';
import type { Months } from './months.ts';

/** Removes what nobody needs any more. Any number of processes may do it, also at once. */
export async function sweep(database: Database, months: Months): Promise<void> {
  await database.write(KEYS);
  for (const sql of [BLOBS, COMMITS]) await database.write(sql, [limits.databaseAbandonedMs]);
  const { rows } = await database.read<{ now: number }>('SELECT @now AS now');
  await months.dropEmpty(rows[0]!.now);
}

// What somebody is just using is passed over, and comes next time.
const KEYS = `
  DELETE FROM ~idempotency_keys WHERE (workspace_id, key) IN (
    SELECT workspace_id, key FROM ~idempotency_keys WHERE expires_at <= @now FOR UPDATE SKIP LOCKED
  )`;
const BLOBS = `
  DELETE FROM ~blobs WHERE key IN (
    SELECT key FROM ~blobs WHERE id IS NULL AND touched_at < @now - $1::int8 FOR UPDATE SKIP LOCKED
  )`;
// One that is still needed is made anew by whoever needs it.
const COMMITS = `
  DELETE FROM ~commits WHERE node IN (
    SELECT node FROM ~commits WHERE used_at < @now - $1::int8 FOR UPDATE SKIP LOCKED
  )`;
