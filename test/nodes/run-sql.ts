import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../support/root.ts';

/** Runs SQL in another process, because the driver is a dependency of the server package. Returns the first value as JSON. */
export function runSql(url: string, sql: string): string {
  const lines = `import pg from 'pg'; const client = new pg.Client(process.argv[1]); await client.connect();
    const { rows = [] } = await client.query(process.argv[2]); await client.end();
    process.stdout.write(JSON.stringify(Object.values(rows[0] ?? {})[0] ?? null));`;
  const cwd = join(repositoryRoot, 'packages', 'server');
  return execFileSync(process.execPath, ['--input-type=module', '-e', lines, url, sql], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1024 * 1024 * 1024,
  });
}
