import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import { encodeFrame } from '../frame.ts';
import { append, create, owned, readAll, sampleFrame, show, start } from '../suite/samples.suite.ts';
import { commitOne } from '../write.ts';
import { Database } from './database.ts';
import { createSqliteStore, openSqliteStore } from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-indexes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const turn = { streamId: 0, depth: 0, run: 'req_1' };
const frame = (type: string, text = '') => encodeFrame(sampleFrame(text, { type, turn }));

/** Makes the file what it was before there were indexes. */
async function makeOld(path: string): Promise<void> {
  const database = await Database.open(path);
  const indexes = [
    'summaries',
    'runs',
    'event_segments',
    'unindexed',
    'checkpoints',
    'prunes',
    'audit_entries',
    'audit_chains',
  ];
  for (const table of indexes) database.exec(`DROP TABLE ${table}`);
  database.exec('DROP INDEX documents_by_workspace; ALTER TABLE documents DROP COLUMN workspace_id');
  database.exec('DROP INDEX approvals_pending; DELETE FROM migrations WHERE version >= 5');
  database.close();
}

it('[T57] a file from before the indexes existed is migrated: open runs are listed, and the first lookup indexes the rest of a session', async () => {
  const path = join(folder, 'old.db');
  const first = await openSqliteStore({ path });
  const run = { id: 'req_2', started_at: start, ended_at: null };
  await commitOne(first, create('sesn_1', { data: { run } }));
  await commitOne(first, create('sesn_2', { data: { run: null } }));
  await commitOne(first, create('sesn_3', { data: {} }));
  const { fence } = (await first.leases.acquire({ sessionId: 'sesn_1', owner: 'a', ttlMs: 1_000 })) as {
    fence: number;
  };
  const second = { streamId: 0, depth: 0, run: 'req_2' };
  const frames = [
    frame('run.started'),
    ...Array.from({ length: 50 }, () => frame('delta.text', 'x'.repeat(100))),
    frame('run.ended'),
    encodeFrame(sampleFrame('', { type: 'run.started', turn: second })),
  ];
  for (const each of frames) {
    await commitOne(first, { type: 'append', sessionId: 'sesn_1', fence, frames: [each], changes: [] });
  }
  await first.close();
  await makeOld(path);

  const store = await openSqliteStore({ path });
  // Before the row was classified, a read without deltas loads them, and returns the same.
  const request = { sessionId: 'sesn_1', after: 0, entriesMax: 99, bytesMax: 99_999, skipsDeltas: true };
  const events = (await store.read(request)).map(({ seq, lastSeq }) => [seq, lastSeq]);
  expect(events).toEqual([
    [1, 1],
    [2, 51],
    [52, 52],
    [53, 53],
  ]);
  const { items } = await store.runs.list({ workspaceId: 'w1', isOpen: true, limit: 9 });
  expect(items).toMatchObject([{ sessionId: 'sesn_1', id: 'req_2', firstSeq: 53, lastSeq: null }]);
  expect(await store.runs.get('sesn_1', 'req_1')).toMatchObject({ firstSeq: 1, lastSeq: 52 });
  expect((await store.read(request)).map(({ seq, lastSeq }) => [seq, lastSeq])).toEqual(events);
  expect(await store.runs.findAt('sesn_2', 9)).toBeUndefined();
  await store.close();
  const database = await Database.open(path);
  expect(database.prepare('SELECT count(*) AS n FROM unindexed').get()).toEqual({ n: 1 });
  database.close();
});

it('[T57] frames written while an old log is being indexed are part of the index', async () => {
  const path = join(folder, 'busy.db');
  const first = await openSqliteStore({ path });
  await owned(first, 'sesn_1');
  await first.close();
  await makeOld(path);
  const store = await openSqliteStore({ path });
  const held = (await store.leases.acquire({ sessionId: 'sesn_1', owner: 'a', ttlMs: 1_000 })) as { fence: number };
  const write = (...frames: ReturnType<typeof frame>[]) =>
    commitOne(store, { type: 'append', sessionId: 'sesn_1', fence: held.fence, frames, changes: [] });
  await write(frame('run.started'), ...Array.from({ length: 30_000 }, () => frame('delta.text', 'x'.repeat(100))));
  const finding = store.runs.findAt('sesn_1', 1);
  await write(frame('delta.text'));
  await write(frame('run.ended'));
  await finding;
  expect(await store.runs.findAt('sesn_1', 1)).toMatchObject({ firstSeq: 1, lastSeq: 30_003 });
  await store.close();
});

it('[T56] a long log is removed in several transactions, continued by the next process after a crash and finished before close returns', async () => {
  const path = join(folder, 'long.db');
  const database = await Database.open(path);
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  const many = Array.from({ length: 20_000 }, () => frame('delta.text', 'x'.repeat(200)));
  await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: many, changes: [] });
  const epoch = await store.checkpoints.epoch('sesn_1');
  const data = Buffer.alloc(100);
  const checkpoint = {
    sessionId: 'sesn_1',
    kind: 'a',
    seq: 9,
    data,
    epoch,
    dependsOnDeltas: true,
    replacesOlder: false,
  };
  await store.checkpoints.put(checkpoint);
  // It is in the file when this returns, and nothing of the log is removed yet.
  const deleting = store.commit([{ type: 'delete', sessionId: 'sesn_1', fence }]).catch(() => {});
  const count = (from: Database, table: string) =>
    from.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
  expect(count(database, 'segments') * storeLimits.segmentBytesMax).toBeGreaterThan(storeLimits.storeSliceBytesMax);
  // As if the process had died here.
  database.close();
  await deleting;
  const again = await Database.open(path);
  expect(count(again, 'segments')).toBeGreaterThan(0);
  const opened = createSqliteStore(again);
  await commitOne(opened, create('sesn_1'));
  await opened.close();
  const last = await Database.open(path);
  const left = ['segments', 'checkpoints', 'event_segments', 'owners', 'sessions'].map((table) => count(last, table));
  expect(left).toEqual([0, 0, 0, 1, 1]);
  last.close();
});

it('[T52] segments of deltas are kept apart from other segments, and both kinds grow', async () => {
  const database = await Database.open(join(folder, 'apart.db'));
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  const write = (type: string) =>
    commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: [frame(type)], changes: [] });
  for (const type of ['delta.text', 'delta.text', 'agent.message', 'agent.message', 'delta.text']) await write(type);
  const rows = database.prepare('SELECT first_seq AS a, last_seq AS b FROM segments ORDER BY 1').all();
  expect(rows).toEqual([
    { a: 1, b: 2 },
    { a: 3, b: 4 },
    { a: 5, b: 5 },
  ]);
  expect(database.prepare('SELECT first_seq AS a FROM event_segments').all()).toEqual([{ a: 3 }]);
  await commitOne(store, append('sesn_1', fence, ['x']));
  expect(show(await readAll(store, 'sesn_1', 5))).toEqual(['6 x']);
  await store.close();
});

it('[T58] a session created with a long log is written in several transactions and becomes visible as a whole or not at all', async () => {
  const path = join(folder, 'staged.db');
  const database = await Database.open(path);
  const store = createSqliteStore(database);
  const text = 'x'.repeat(100_000);
  const frames = [
    frame('run.started'),
    ...Array.from({ length: 60 }, () => frame('agent.message', text)),
    frame('run.ended'),
  ];
  const write = (id: string, key: string) => ({
    type: 'create' as const,
    session: { ...(create(id) as Extract<ReturnType<typeof create>, { type: 'create' }>).session },
    frames,
    changes: [{ type: 'put_key' as const, key: { key, expiresAt: Date.now() + 60_000, result: {} } }],
  });
  const committing = store.commit([write('sesn_1', 'a'), create('sesn_other')]);
  // What is written by now is some of its log, and nothing that has its name.
  const written = database.prepare<{ n: number }>('SELECT max(last_seq) AS n FROM segments').get()!.n;
  expect([written > 0, written < frames.length]).toEqual([true, true]);
  expect(database.prepare("SELECT id FROM sessions WHERE workspace_id = 'w1'").all()).toEqual([]);
  expect(await committing).toEqual([
    { ok: true, firstSeq: 1, lastSeq: 62 },
    { ok: true, firstSeq: 1, lastSeq: 0 },
  ]);
  expect(await store.runs.findAt('sesn_1', 9)).toMatchObject({ id: 'req_1', firstSeq: 1, lastSeq: 62 });
  expect(show(await readAll(store, 'sesn_1', 60))).toHaveLength(2);
  const taken = (await store.leases.acquire({ sessionId: 'sesn_1', owner: 'a', ttlMs: 1_000 })) as { fence: number };
  expect(await commitOne(store, append('sesn_1', taken.fence, ['y']))).toEqual({ firstSeq: 63, lastSeq: 63 });
  // The id is taken, and then the key.
  const refused = await store.commit([write('sesn_1', 'b'), write('sesn_2', 'a')]);
  expect(refused.map((outcome) => !outcome.ok && outcome.error.code)).toEqual(['already_exists', 'key_taken']);
  expect((await store.heads(['sesn_2'])).size).toBe(0);
  // A process that is killed while it writes leaves nothing visible.
  const dying = store.commit([write('sesn_3', 'c')]).catch(() => {});
  database.close();
  await dying;
  const opened = await openSqliteStore({ path });
  await opened.close();
  const last = await Database.open(path);
  expect(last.prepare('SELECT id FROM sessions ORDER BY id').all()).toEqual([{ id: 'sesn_1' }, { id: 'sesn_other' }]);
  expect(last.prepare('SELECT count(DISTINCT session_key) AS n FROM segments').get()).toEqual({ n: 1 });
  last.close();
});
