import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type Postgres, startPostgres } from '../../scripts/support/postgres.mjs';
import { repositoryRoot } from './root.ts';

export interface TestDatabase {
  readonly url: string;
  /** A schema of this test file only. */
  readonly schema: string;
}

let own: Promise<Postgres> | undefined;

/**
 * A schema in a real PostgreSQL for the tests of one file. `npm test` starts one for all files; without that, and without
 * FLEETLOOM_TEST_DATABASE, this file gets its own. No test is skipped.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const given = process.env['FLEETLOOM_TEST_DATABASE'];
  if (given === undefined) {
    // It ends with the file; another file of the same process needs another one.
    if (own === undefined) afterAll(() => void (own = undefined));
    own ??= ownPostgres();
    return { url: (await own).url, schema };
  }
  // A database that was started for the tests is removed as a whole.
  if (process.env['FLEETLOOM_TEST_DATABASE_STARTED'] !== '1') afterAll(() => dropSchema(given, schema));
  return { url: given, schema };
}

/** A whole server for tests that stop or kill it. It ends after the tests of the file. */
export async function ownPostgres(): Promise<Postgres> {
  const postgres = await startPostgres();
  afterAll(() => postgres.stop());
  return postgres;
}

/** In another process, because the driver is a dependency of the server package. */
function dropSchema(url: string, schema: string): void {
  const lines = `import pg from 'pg'; const client = new pg.Client(process.argv[1]); await client.connect();
    await client.query('DROP SCHEMA IF EXISTS ${schema} CASCADE'); await client.end();`;
  const cwd = join(repositoryRoot, 'packages', 'server');
  execFileSync(process.execPath, ['--input-type=module', '-e', lines, url], { cwd });
}
