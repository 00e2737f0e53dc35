import { afterAll, expect, it } from 'vitest';
import { Database } from '../../packages/server/src/store/postgres/database.ts';
import { openPostgresStore } from '../../packages/server/src/store/postgres/postgres-store.ts';
import { append, frames, newSession } from '../../packages/server/src/store/suite/samples.suite.ts';
import { commitOne } from '../../packages/server/src/store/write.ts';
import { testDatabase } from '../support/postgres.ts';
import type { LogRow } from './log-proof.ts';
import { checkOwnership, judgeOwnership, noteOwnership, readOwnership } from './ownership.ts';

const place = await testDatabase();
const store = await openPostgresStore(place);
const database = await Database.open(place);
afterAll(async () => {
  await store.close();
  await database.close();
});

async function take(owner: string, ttlMs: number): Promise<number> {
  const acquired = await store.leases.acquire({ sessionId: 'sesn_1', owner, ttlMs });
  if (!acquired.ok) throw new Error(`${acquired.owner} has it`);
  return acquired.fence;
}

it('[P72] the proof that a session has one owner at a time finds every violation', async () => {
  noteOwnership(place.url, place.schema);
  await commitOne(store, { type: 'create', session: newSession('sesn_1'), frames: frames('a'), changes: [] });
  await commitOne(store, append('sesn_1', await take('old', 0), ['b', 'c']));
  await commitOne(store, append('sesn_1', await take('new', 60_000), ['d']));
  const evidence = readOwnership(place.url, place.schema);
  expect(judgeOwnership(evidence)).toEqual({ problems: [], appends: 3, takeOvers: 1 });

  /** The problems found after changing the row that begins at `seq`. */
  const withRow = (seq: number, change: Partial<LogRow>) => {
    const rows = evidence.rows.map((row) => (row.first_seq === seq ? { ...row, ...change } : row));
    return judgeOwnership({ ...evidence, rows }).problems;
  };
  const owned = 'and by the notes fence 0 to 1, fence 1 to 3, fence 2 to 4 owned it';
  expect(withRow(1, { fence: 2 })).toEqual([
    'sesn_1: 2 was written with fence 1 after 2',
    `sesn_1: by the log fence 2 to 1, fence 1 to 3, fence 2 to 4 wrote, ${owned}`,
  ]);
  // The old owner wrote after it had lost the session.
  expect(withRow(4, { fence: 1 })).toEqual([`sesn_1: by the log fence 0 to 1, fence 1 to 4 wrote, ${owned}`]);
  expect(withRow(4, { fence: 3 })).toContain('sesn_1: 4 has fence 3, which no node had yet');
  expect(withRow(2, { last_seq: 2 })).toContain('sesn_1: 4 comes after 2');
  expect(withRow(2, { last_seq: 4 })).toContain('sesn_1: 4 comes after 4');
  expect(withRow(4, { last_seq: 5 })).toContain('sesn_1: the log ends with 5 and not with 4');
  expect(withRow(4, { first_seq: 5 })).toContain('sesn_1: 5 comes after 3');

  // Real violations: a session is taken twice during a lease, and written without a log row or an owner.
  await database.write("UPDATE ~logs SET owner = 'thief'");
  await database.write("UPDATE ~logs SET owner = 'other', fence = fence + 1");
  await database.write('UPDATE ~logs SET owner = NULL, fence = fence + 1, head = head + 1');
  await database.write('UPDATE ~segments SET fence = 1 WHERE first_seq = 1');
  expect(checkOwnership(place.url, place.schema).problems).toEqual([
    'sesn_1: the log ends with 4 and not with 5',
    'sesn_1: fence 2 was taken from an owner whose lease had not run out',
    'sesn_1: fence 2 has two owners',
    'sesn_1: fence 3 was taken from an owner whose lease had not run out',
    'sesn_1: an append to 5 without an owner',
    'sesn_1: by the log fence 1 to 3, fence 2 to 4 wrote, and by the notes fence 0 to 1, fence 1 to 3, fence 2 to 4, fence 4 to 5 owned it',
  ]);
});
