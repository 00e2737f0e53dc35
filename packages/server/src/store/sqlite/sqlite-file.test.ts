import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, it, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { FleetloomError } from '../../base/errors.ts';
import { encodeFrame } from '../frame.ts';
import { storeLimits } from '../limits.ts';
import { compareHistories } from '../suite/histories.suite.ts';
import {
  append,
  codeOf,
  create,
  enqueue,
  newSession,
  owned,
  readAll,
  sampleFrame,
  show,
  start,
} from '../suite/samples.suite.ts';
import { commitOne, type Write } from '../write.ts';
import { createBlobParts } from './blob-parts.ts';
import { Database, type Statement } from './database.ts';
import { migrate } from './migrate.ts';
import { createSqliteStore, openSqliteStore } from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
const newPath = () => join(folder, `${count++}.db`);

it('[T21] a file that is opened again has everything, and leases of dead processes do not delay it', async () => {
  const path = newPath();
  const clock = createManualClock(start);
  const first = await openSqliteStore({ path, clock });
  const fence = await owned(first, 'sesn_1', 'dead');
  await commitOne(first, append('sesn_1', fence, ['a', 'b'], [enqueue('sevt_1')]));
  await first.close();
  const second = await openSqliteStore({ path, clock });
  expect(show(await readAll(second, 'sesn_1'))).toEqual(['1 a', '2 b']);
  expect(await second.leases.findOrphans(9)).toEqual(['sesn_1']);
  const taken = await second.leases.acquire({ sessionId: 'sesn_1', owner: 'alive', ttlMs: 1_000 });
  expect(taken).toMatchObject({ ok: true, fence: fence + 1, head: 2 });
  expect(await codeOf(commitOne(second, append('sesn_1', fence, ['ghost'])))).toBe('stale_owner');
  await second.close();
});

it('[T30] the partial blob of a killed process is removed when the file is opened again', async () => {
  const database = await Database.open(newPath());
  const parts = createBlobParts((createSqliteStore(database), database));
  await parts.add(await parts.begin(), 0, Buffer.from('half'));
  const whole = await parts.begin();
  await parts.add(whole, 0, Buffer.from('whole'));
  await parts.finish(whole, 'a', { parts: 1, bytes: 5 });
  await parts.discard(await parts.begin());
  expect(database.prepare('SELECT count(*) AS n FROM blob_parts').get()).toEqual({ n: 2 });
  createBlobParts(database);
  expect(database.prepare('SELECT count(*) AS n FROM blob_parts').get()).toEqual({ n: 1 });
  expect(await parts.find('a')).toEqual({ key: whole, parts: 1, bytes: 5 });
  database.close();
});

it('[X30] a write for which there is no space inside a savepoint fails with the error of SQLite, and nothing of its commit is kept', async () => {
  const database = await Database.open(newPath());
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  limitPages(database, 20);
  const large = enqueue('sevt_1');
  const message = { ...large, input: { ...large.input, data: { say: 'x'.repeat(8_000_000) } } };
  const failing = commitOne(store, append('sesn_1', fence, ['lost'], [message]));
  await expect(failing).rejects.toMatchObject({ code: 'store_failed', cause: { errcode: SQLITE_FULL } });
  // A session with a long log, as a fork has.
  const frames = Array.from({ length: 60 }, () => encodeFrame(sampleFrame('x'.repeat(100_000))));
  const fork = { ...create('sesn_2'), frames } as Write;
  await expect(commitOne(store, fork)).rejects.toMatchObject({ cause: { errcode: SQLITE_FULL } });
  await expect(store.blobs.write('b', toChunks(8_000_000))).rejects.toMatchObject({ cause: { errcode: SQLITE_FULL } });
  expect(show(await readAll(store, 'sesn_1'))).toEqual([]);
  limitPages(database, 1_000_000);
  await commitOne(store, append('sesn_1', fence, ['kept'], [message]));
  await commitOne(store, { ...fork, session: newSession('sesn_3') } as Write);
  expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 kept']);
  await store.close();
});

it('[X30] the staged log of a fork that a full disk ended is removed with the next one', async () => {
  const database = await Database.open(newPath());
  const store = createSqliteStore(database);
  const frames = Array.from({ length: 60 }, () => encodeFrame(sampleFrame('x'.repeat(100_000))));
  const staged = () => database.prepare(`SELECT count(*) AS n FROM sessions WHERE workspace_id = ' '`).get();
  limitPages(database, 600);
  await expect(commitOne(store, { ...create('sesn_1'), frames } as Write)).rejects.toThrow('full');
  limitPages(database, 1_000_000);
  await commitOne(store, { ...create('sesn_2'), frames } as Write);
  expect(staged()).toEqual({ n: 0 });
  await store.close();
});

it('[X31] closing a store whose disk is full reports it, does not fail, and loses nothing', async () => {
  const path = newPath();
  const database = await Database.open(path);
  const problems: unknown[] = [];
  const store = createSqliteStore(database, undefined, (problem) => problems.push(problem));
  await commitOne(store, create('sesn_1'));
  const close = database.close.bind(database);
  vi.spyOn(database, 'close').mockImplementation(() => {
    close();
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: SQLITE_FULL });
  });
  await store.close();
  expect(problems.map(String)).toEqual([expect.stringContaining('the disk is full, so the database was closed')]);
  const again = await openSqliteStore({ path });
  expect(await again.sessions.get('w1', 'sesn_1')).toBeDefined();
  await again.close();
});

const SQLITE_FULL = 13;

/** As on a disk with room for so many more pages of 4 KiB. */
function limitPages(database: Database, more: number): void {
  const { page_count: pages } = database.prepare<{ page_count: number }>('PRAGMA page_count').get()!;
  database.exec(`PRAGMA max_page_count = ${pages + more}`);
}

async function* toChunks(bytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(bytes);
}

it('[T22] a second process, or a second store, gets an error with the file that is in use and what to do', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path });
  await expect(openSqliteStore({ path })).rejects.toThrow(
    `another process has ${path} open: stop the other process, or choose another file`,
  );
  const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const script = `const { DatabaseSync } = require(${JSON.stringify(driver)});
    try { new DatabaseSync(${JSON.stringify(path)}).exec('SELECT * FROM sessions'); } catch (e) { console.log(e.message); }`;
  expect(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout).toBe('database is locked\n');
  await commitOne(store, create('sesn_1'));
  await store.close();
  await (await openSqliteStore({ path })).close();
});

it('[T22] the error for a file that is not a database, or cannot be opened, names the file', async () => {
  const path = newPath();
  writeFileSync(path, 'this is a letter to my aunt, and not a database'.repeat(100));
  await expect(openSqliteStore({ path })).rejects.toThrow(`${path} cannot be opened as a database (file is not a`);
  const missing = join(folder, 'nowhere', 'x.db');
  await expect(openSqliteStore({ path: missing })).rejects.toThrow(`${missing} cannot be opened as a database`);
});

it('[T23] steps run once each and in order, a failing one leaves the file as it was, a newer file is refused', async () => {
  const database = await Database.open(newPath());
  const steps = ['CREATE TABLE a (x INTEGER)', 'INSERT INTO a VALUES (1)', 'INSERT INTO a VALUES (2)'];
  migrate(database, () => 5, steps.slice(0, 1));
  migrate(database, () => 6, steps);
  migrate(database, () => 7, steps);
  expect(database.prepare('SELECT x FROM a').all()).toEqual([{ x: 1 }, { x: 2 }]);
  const applied = database.prepare('SELECT version, applied_at AS at FROM migrations').all();
  expect(applied).toEqual([5, 6, 6].map((at, index) => ({ version: index + 1, at })));
  expect(() => migrate(database, () => 8, [...steps, 'INSERT INTO a VALUES (3); BROKEN'])).toThrow('BROKEN');
  expect(database.prepare('SELECT max(x) AS x FROM a').get()).toEqual({ x: 2 });
  expect(() => migrate(database, () => 9, steps.slice(1))).toThrow('was written by a newer version of Fleetloom');
  database.close();
});

it('[T24] small appends share rows up to the limit, large ones are cut at theirs, and a huge frame is a row', async () => {
  const database = await Database.open(newPath());
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  const rows = () =>
    database
      .prepare<{ bytes: number; n: number }>(
        'SELECT length(data) AS bytes, last_seq - first_seq + 1 AS n FROM segments',
      )
      .all()
      .map(({ bytes, n }) => [bytes, n]);
  const empty = (append('x', 1, ['']) as Extract<Write, { type: 'append' }>).frames[0]!.bytes.length + 1;
  const textOf = (bytes: number) => 'x'.repeat(bytes - empty);
  await commitOne(store, append('sesn_1', fence, [textOf(1_000)]));
  await commitOne(store, append('sesn_1', fence, [textOf(storeLimits.segmentGrowBytesMax - 1_000)]));
  expect(rows()).toEqual([[storeLimits.segmentGrowBytesMax, 2]]);
  await commitOne(store, append('sesn_1', fence, ['']));
  expect(rows()).toEqual([
    [storeLimits.segmentGrowBytesMax, 2],
    [empty, 1],
  ]);
  const half = textOf(storeLimits.segmentBytesMax / 2);
  await commitOne(store, append('sesn_1', fence, [half, half, '', `${half}${half}${half}`, '']));
  expect(
    rows()
      .slice(2)
      .map(([, n]) => n),
  ).toEqual([2, 1, 1, 1]);
  expect(rows()[2]).toEqual([storeLimits.segmentBytesMax, 2]);
  await store.close();
});

it('[T24] two thousand deltas committed one by one are a few dozen rows', async () => {
  const database = await Database.open(newPath());
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  database.exec('PRAGMA synchronous = OFF');
  for (let index = 0; index < 2_000; index++) await commitOne(store, append('sesn_1', fence, [`delta ${index}`]));
  expect(database.prepare('SELECT count(*) AS n FROM segments').get()).toEqual({ n: 60 });
  await store.prune('sesn_1', [{ firstSeq: 2, lastSeq: 1_999 }]);
  expect(database.prepare('SELECT count(*) AS n FROM segments').get()).toEqual({ n: 1 });
  expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 delta 0', '2-1999', '2000 delta 1999']);
  await store.close();
});

it('[T26] on a full disk a commit writes nothing and fails, and the next one that fits succeeds', async () => {
  const database = await Database.open(newPath());
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  const { pages } = database.prepare<{ pages: number }>('SELECT page_count AS pages FROM pragma_page_count').get()!;
  database.exec(`PRAGMA max_page_count = ${pages + 20}`);
  const write = append('sesn_1', fence, ['x'.repeat(200_000)], [enqueue('sevt_1')]);
  const error = await commitOne(store, write).catch((thrown: unknown) => thrown as FleetloomError);
  expect(error).toBeInstanceOf(FleetloomError);
  expect(error).toMatchObject({ code: 'store_failed', kind: 'retryable' });
  expect(await readAll(store, 'sesn_1')).toEqual([]);
  expect(await store.inputs.peek('sesn_1', 1)).toEqual([]);
  expect(await commitOne(store, append('sesn_1', fence, ['small']))).toEqual({ firstSeq: 1, lastSeq: 1 });
  await store.close();
});

it('[T27] a statement keeps its database alive, which the driver does not', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const statement = await prepareAndForget();
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Without it this is a segmentation fault, which no test survives.
  expect(statement.get()).toEqual({ one: 1 });
});

it('[T20] memory and SQLite return the same results for the same random history', () =>
  compareHistories((clock) => openSqliteStore({ path: ':memory:', clock }), 150));

/** In a function of its own, so that nothing on the stack refers to the database any more. */
async function prepareAndForget(): Promise<Statement> {
  const database = await Database.open(':memory:');
  return database.prepare('SELECT 1 AS one');
}
