import { storeError } from '../store-errors.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { STEPS } from './steps.ts';

/**
 * Migrates the tables to the newest version. Any number of processes may call it at once: one migrates, the others wait. All
 * missing steps are one transaction, so a failing one leaves the tables as they were.
 */
export async function migrate(database: Database, steps: readonly string[] = STEPS): Promise<void> {
  if ((await findVersion(database)) === steps.length) return;
  await database.transaction(async (connection) => {
    // The migration may take long, and other processes wait for it. No other code takes this lock.
    await connection.query('SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
    await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lockOf(database.schema)]);
    await createSchema(connection, database.schema);
    const [row] = (await connection.query<{ version: number }>(VERSION)).rows;
    const current = row?.version ?? 0;
    checkVersion(database, current, steps);
    for (const [index, step] of steps.entries()) {
      if (index < current) continue;
      await connection.query(step);
      await connection.query('INSERT INTO ~migrations (version, applied_at) VALUES ($1, @now)', [index + 1]);
    }
  });
}

/** Without a lock or a transaction: usually there is nothing to migrate. */
async function findVersion(database: Database): Promise<number> {
  const there = await database.read<{ there: boolean }>("SELECT to_regclass('~migrations') IS NOT NULL AS there");
  if (there.rows[0]?.there !== true) return 0;
  const [row] = (await database.read<{ version: number }>(VERSION)).rows;
  return row?.version ?? 0;
}

/** The user of an existing schema may not have the permission to create one. */
async function createSchema(connection: Connection, schema: string): Promise<void> {
  const there = await connection.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (there.count === 0) await connection.query(`CREATE SCHEMA ${schema}`);
  await connection.query('CREATE TABLE IF NOT EXISTS ~migrations (version int4 PRIMARY KEY, applied_at int8 NOT NULL)');
}

function checkVersion({ schema }: Database, current: number, steps: readonly string[]): void {
  if (current <= steps.length) return;
  const forms = `its tables have form ${current}, and this version knows ${steps.length}`;
  throw storeError('store_too_new', `the schema ${schema} was written by a newer version of Fleetloom (${forms})`);
}

/** SQL that lets one node at a time migrate the schema. */
export function lockOf(schema: string): string {
  return `fleetloom ${schema}`;
}

const VERSION = 'SELECT coalesce(max(version), 0) AS version FROM ~migrations';
