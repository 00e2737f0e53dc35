import { storeLimits } from '../limits.ts';
import type { Database } from './database.ts';
import type { Months } from './months.ts';

/** Removes expired rows. Any number of processes may run it concurrently. */
export async function sweep(database: Database, months: Months): Promise<void> {
  await database.write(KEYS);
  for (const sql of [BLOBS, COMMITS]) await database.write(sql, [storeLimits.databaseAbandonedMs]);
  const { rows } = await database.read<{ now: number }>('SELECT @now AS now');
  await months.dropEmpty(rows[0]!.now);
}

// Rows in use are skipped until the next time.
const KEYS = `
  DELETE FROM ~idempotency_keys WHERE (workspace_id, key) IN (
    SELECT workspace_id, key FROM ~idempotency_keys WHERE expires_at <= @now FOR UPDATE SKIP LOCKED
  )`;
const BLOBS = `
  DELETE FROM ~blobs WHERE key IN (
    SELECT key FROM ~blobs WHERE id IS NULL AND touched_at < @now - $1::int8 FOR UPDATE SKIP LOCKED
  )`;
// A process whose row is removed creates it again.
const COMMITS = `
  DELETE FROM ~commits WHERE node IN (
    SELECT node FROM ~commits WHERE used_at < @now - $1::int8 FOR UPDATE SKIP LOCKED
  )`;
