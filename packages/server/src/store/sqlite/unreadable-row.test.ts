import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Database } from './database.ts';

it('[R501] a row that cannot be read ends its statement: the log can be emptied, and the database closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-unreadable-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const database = await Database.open(join(folder, 'a.db'));
  database.exec('CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (9000000000000000000), (3)');
  const rows = database.prepare<{ n: number }>('SELECT n FROM t').iterate();
  expect(rows.next().value).toEqual({ n: 1 });
  expect(() => rows.next()).toThrow('too large');
  const left = database.prepare<{ n: number }>('SELECT n FROM t').iterate();
  for (const { n } of left) if (n === 1) break;
  database.transaction(() => database.exec('INSERT INTO t VALUES (4)'));
  database.emptyLog();
  database.close();
});
