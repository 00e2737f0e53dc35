import { afterAll, expect, it } from 'vitest';
import { testDatabase } from '../../../../../test/support/postgres.ts';
import { createManualClock } from '../../base/clock.ts';
import { storeLimits } from '../limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import {
  append,
  codeOf,
  frames,
  newSession,
  owned,
  readAll,
  sampleFrame,
  show,
  start,
} from '../suite/samples.suite.ts';
import { encodeFrame } from '../frame.ts';
import { commitOne, type Write } from '../write.ts';
import { createBlobParts } from './blob-parts.ts';
import { Database } from './database.ts';
import { Months } from './months.ts';
import { decodePayload, encodePayload } from './payload.ts';
import { openPostgresStore } from './postgres-store.ts';
import { Segments } from './segments.ts';
import { until } from './suite/until.suite.ts';
import { sweep } from './sweep.ts';

const place = await testDatabase();
const store = await openPostgresStore(place);
const database = await Database.open(place);
afterAll(async () => {
  await store.close();
  await database.close();
});

async function count(sql: string, values: unknown[] = []): Promise<number> {
  return (await database.read<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`, values)).rows[0]!.n;
}

async function keyOf(sessionId: string): Promise<number> {
  const { rows } = await database.read<{ key: number }>('SELECT key FROM ~sessions WHERE id = $1', [sessionId]);
  return rows[0]!.key;
}

it('[P11] a commit is one row for each session, and a log that has become many small rows is put together', async () => {
  const fence = await owned(store, 'sesn_p11');
  const key = await keyOf('sesn_p11');
  const rows = () => count('~segments WHERE session_key = $1', [key]);
  await store.commit([append('sesn_p11', fence, ['1', '2']), append('sesn_p11', fence, ['3'])]);
  expect(await rows()).toBe(1);
  for (let n = 2; n < storeLimits.segmentTailRowsMax; n++)
    await commitOne(store, append('sesn_p11', fence, [`${n + 2}`]));
  expect(await rows()).toBe(storeLimits.segmentTailRowsMax - 1);
  const last = storeLimits.segmentTailRowsMax + 2;
  await commitOne(store, append('sesn_p11', fence, [`${last}`]));
  await until(async () => (await rows()) === 1, 'the rows are put together');
  const expected = Array.from({ length: last }, (_, index) => `${index + 1} ${index + 1}`);
  expect(show(await readAll(store, 'sesn_p11'))).toEqual(expected);
  expect(await commitOne(store, append('sesn_p11', fence, ['more']))).toMatchObject({ firstSeq: last + 1 });
  expect(await rows()).toBe(2);
});

it('[P11] rows are put together up to the size of a segment, and one frame may be larger', async () => {
  const fence = await owned(store, 'sesn_large');
  const key = await keyOf('sesn_large');
  const half = 'x'.repeat(storeLimits.segmentBytesMax / 2 - 1_000);
  for (const text of ['a', half, half, 'b', `${half}${half}${half}`, 'c']) {
    await commitOne(store, append('sesn_large', fence, [text]));
  }
  await new Segments(database).mergeRows('sesn_large');
  const sql = 'SELECT last_seq - first_seq + 1 AS n FROM ~segments WHERE session_key = $1 ORDER BY first_seq';
  expect((await database.read(sql, [key])).rows).toEqual([{ n: 4 }, { n: 1 }, { n: 1 }]);
  expect(show(await readAll(store, 'sesn_large')).map((line) => line.length)).toHaveLength(6);
  // More than one look at the database is needed for many rows, and one is enough for few.
  const many = await owned(store, 'sesn_rows');
  for (let n = 0; n < 300; n += 50) {
    await store.commit(Array.from({ length: 50 }, (_, at) => append('sesn_rows', many, [`${n + at}`.padEnd(2_000)])));
  }
  const all = await store.read({ sessionId: 'sesn_rows', after: 0, entriesMax: 9_999, bytesMax: 9_999_999 });
  expect(all).toHaveLength(300);
});

it('[P12] a deleted session leaves no row behind, and the table of a month goes when its last session has gone', async () => {
  const months = new Months(database);
  const old = Date.UTC(2020, 4, 15);
  const firstKey = await months.firstKey(old);
  await Promise.all([1, 2, 3].map(() => new Months(database).firstKey(old)));
  const tables = async () =>
    (await database.read<{ name: string }>(PARTITIONS, [place.schema])).rows.map(({ name }) => name);
  expect(await tables()).toContain('segments_2020_05');
  const fence = await owned(store, 'sesn_old');
  await commitOne(store, append('sesn_old', fence, ['a']));
  // As if it had been made then.
  const key = await keyOf('sesn_old');
  const moved = firstKey + 7;
  await database.write(`
    BEGIN; ALTER TABLE ~logs DROP CONSTRAINT logs_session_key_fkey; UPDATE ~sessions SET key = ${moved} WHERE key = ${key};
    UPDATE ~logs SET session_key = ${moved} WHERE session_key = ${key};
    UPDATE ~segments SET session_key = ${moved} WHERE session_key = ${key};
    ALTER TABLE ~logs ADD FOREIGN KEY (session_key) REFERENCES ~sessions ON DELETE CASCADE; COMMIT`);
  expect(await count('~segments_2020_05')).toBe(1);
  expect(show(await readAll(store, 'sesn_old'))).toEqual(['1 a']);
  expect(await months.dropEmpty(Date.now())).toEqual([]);
  await commitOne(store, { type: 'delete', sessionId: 'sesn_old', fence });
  for (const table of ['segments', 'logs', 'sessions']) {
    const column = table === 'sessions' ? 'key' : 'session_key';
    expect(await count(`~${table} WHERE ${column} = $1`, [moved])).toBe(0);
  }
  expect(await months.dropEmpty(old)).toEqual([]);
  expect(await months.dropEmpty(Date.UTC(2020, 6, 1))).toEqual(['segments_2020_05']);
  expect(await tables()).not.toContain('segments_2020_05');
  expect(await months.firstKey(old)).toBe(firstKey);
  expect(await tables()).toContain('segments_2020_05');
});

const PARTITIONS = `
  SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = ($1 || '.segments')::regclass`;

it('[P13] rows of dead processes are removed, and a process whose row is gone continues', async () => {
  const parts = createBlobParts(database);
  const [half, fresh] = [await parts.begin(), await parts.begin()];
  await parts.add(half, 0, Buffer.from('half'));
  const age = `touched_at = touched_at - ${storeLimits.databaseAbandonedMs + 1}`;
  await database.write(`UPDATE ~blobs SET ${age} WHERE key = ${half}`);
  await store.keys.putIfAbsent({ workspaceId: 'w', key: 'gone', expiresAt: 1, result: {} });
  await store.keys.putIfAbsent({ workspaceId: 'w', key: 'there', expiresAt: Date.now() + 60_000, result: {} });
  const fence = await owned(store, 'sesn_p13');
  await database.write(`UPDATE ~commits SET used_at = used_at - ${storeLimits.databaseAbandonedMs + 1}`);
  await sweep(database, new Months(database));
  expect(await count('~blobs')).toBe(1);
  expect(await count('~idempotency_keys')).toBe(1);
  expect(await count('~commits')).toBe(0);
  expect(await codeOf(parts.add(half, 1, Buffer.from('more')))).toBe('not_found');
  expect(await codeOf(parts.finish(half, 'a', { parts: 1, bytes: 4 }))).toBe('not_found');
  await parts.finish(fresh, 'b', { parts: 0, bytes: 0 });
  expect(await commitOne(store, append('sesn_p13', fence, ['a']))).toEqual({ firstSeq: 1, lastSeq: 1 });
  await database.write('DELETE FROM ~commits');
  const thread = { id: 'sthr_1', parentThreadId: null, status: 'idle' as const, createdAt: start, data: {} };
  const write = append('sesn_p13', fence, ['b'], [{ type: 'create_thread', thread }]);
  expect(await commitOne(store, write)).toEqual({ firstSeq: 2, lastSeq: 2 });
  expect(show(await readAll(store, 'sesn_p13'))).toEqual(['1 a', '2 b']);
});

it('[P13] it is removed when a store is opened, and then each hour', async () => {
  const { schedule, advance } = createManualSchedule(createManualClock());
  const swept = await openPostgresStore({ ...place, schedule });
  const put = (key: string) => swept.keys.putIfAbsent({ workspaceId: 'w', key, expiresAt: 1, result: {} });
  const left = () => count('~idempotency_keys WHERE expires_at = 1');
  await put('first');
  advance(0);
  await until(async () => (await left()) === 0, 'the first time');
  await put('second');
  advance(storeLimits.databaseSweepMs - 1);
  expect(await left()).toBe(1);
  advance(1);
  await until(async () => (await left()) === 0, 'the next time');
  await swept.close();
});

it('[P4] a transaction is retried on conflicts, a limited number of times', async () => {
  let runs = 0;
  const conflict = database.transaction(async (connection) => {
    runs++;
    await connection.query("DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$");
  });
  await expect(conflict).rejects.toThrow('deadlock');
  expect(runs).toBe(storeLimits.databaseConflictsMax + 1);
});

it('[P14] ids with zeros, the order of keys, bytes and large numbers are returned unchanged', async () => {
  const id = 'agent_\u0000\u{10fffe}ü';
  const data = {
    z: 1,
    a: { y: '\u0000\ud800', 10: 1, b: [Number.MAX_SAFE_INTEGER, 1e-7] },
    '\u{10ffff}': '\u{10ffff}',
  };
  const createdAt = Number.MAX_SAFE_INTEGER;
  await store.agents.create({ workspaceId: 'w\u0000', id, createdAt, data });
  const agent = await store.agents.get('w\u0000', id);
  expect(agent).toMatchObject({ id, workspaceId: 'w\u0000', createdAt });
  expect(JSON.stringify(agent?.data)).toBe(JSON.stringify(data));
  expect(await store.agents.get('w', 'agent_\u0000')).toBeUndefined();
  const frame = encodeFrame(sampleFrame('\u0000\\x\'"{}', { threadId: '\u0000' }));
  const write: Write = { type: 'create', session: newSession('sesn_\u0000'), frames: [frame], changes: [] };
  await commitOne(store, write);
  expect(await store.heads(['sesn_\u0000', 'sesn_none'])).toEqual(new Map([['sesn_\u0000', 1]]));
  const [entry] = await store.read({ sessionId: 'sesn_\u0000', after: 0, entriesMax: 1, bytesMax: 1 });
  expect(entry?.kind === 'frame' && Buffer.from(entry.bytes)).toEqual(frame.bytes);
  // A number that JavaScript cannot hold is an error, and never another number.
  await expect(database.read('SELECT 9007199254740993 AS n')).rejects.toThrow('which is not a safe integer');
});

it('[P15] a process has no more connections than its limit and three, and none waits without a limit', async () => {
  const url = new URL(place.url);
  url.searchParams.set('application_name', `${place.schema}_p15`);
  const many = await openPostgresStore({ ...place, url: url.href });
  await Promise.all(Array.from({ length: 200 }, (_, index) => many.sessions.get('w1', `sesn_${index}`)));
  await commitOne(many, { type: 'create', session: newSession('sesn_p15'), frames: frames('a'), changes: [] });
  await Promise.all(Array.from({ length: 200 }, (_, index) => many.sessions.get('w1', `sesn_${index}`)));
  const connections = () => count('pg_stat_activity WHERE application_name = $1', [`${place.schema}_p15`]);
  await until(async () => (await connections()) === storeLimits.databaseConnectionsMax + 3, 'all are open');
  await many.close();
  await until(async () => (await connections()) === 0, 'all are closed');
  const sql = `SELECT name, setting::int8 AS ms FROM pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`;
  expect((await database.read<{ ms: number }>(sql)).rows.map(({ ms }) => ms)).toEqual([
    storeLimits.databaseIdleMs,
    storeLimits.databaseLockMs,
    storeLimits.databaseStatementMs,
  ]);
});

it('[P3] a signal fits into a notification of the database, and a foreign notification causes a poll', () => {
  const signal = (index: number) => ({ type: 'frames' as const, sessionId: `sesn_${index}`, head: index });
  const few = [
    signal(1),
    { type: 'works' as const, sessionId: 'sesn_2' },
    { type: 'deleted' as const, sessionId: 'ü' },
  ];
  expect(decodePayload(encodePayload('me', few))).toEqual({ node: 'me', signals: few });
  for (let size = 1; size < 1_000; size += 7) {
    const text = encodePayload(
      'me',
      Array.from({ length: size }, (_, index) => signal(index)),
    );
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(storeLimits.databaseSignalBytesMax);
    const { signals } = decodePayload(text);
    expect(signals === 'look' ? size > 300 : signals.length === size).toBe(true);
  }
  for (const text of ['', 'hello', '{}', '["me",["sesn_1","unknown"]]', '["me",1]']) {
    expect(decodePayload(text).signals).toBe('look');
  }
});

it('[P16] a database that cannot be opened is named without its password, and a missing driver with what to do', async () => {
  const wrong = new URL(place.url);
  wrong.password = 'a-secret';
  const refused = await openPostgresStore({ url: wrong.href }).catch(String);
  expect(refused).toContain(`postgres://${wrong.host}/postgres cannot be used as a database (`);
  expect(refused).not.toContain('a-secret');
  expect(await codeOf(openPostgresStore({ url: 'postgres://127.0.0.1:1/x' }))).toBe('store_failed');
  expect(await codeOf(openPostgresStore({ ...place, schema: 'x; DROP' }))).toBe('store_failed');
  const missing = Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(Database.open(place, () => Promise.reject(missing))).rejects.toThrow('run `npm install pg`');
});
