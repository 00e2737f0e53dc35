import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { storeLimits } from '../limits.ts';
import type { Store } from '../store.ts';
import { append, create, enqueue, owned, readAll, show } from '../suite/samples.suite.ts';
import { commitOne } from '../write.ts';
import { Database } from './database.ts';
import { Erasures } from './erasures.ts';
import { createSqliteStore, openSqliteStore } from './sqlite-store.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-erase-'));
afterAll(() => rmSync(root, { recursive: true }));
const newFolder = () => mkdtempSync(join(root, 'store-'));

const CANARY = 'CANARY-7f3a';

it('[T40] within a second of a delete nothing of the session is in the file or its log, and the neighbours are whole', async () => {
  const folder = newFolder();
  const store = await openSqliteStore({ path: join(folder, 'a.db') });
  const fences = await writeSessions(store, 12, 300);
  expect(countIn(folder)).toBeGreaterThan(100);
  await commitOne(store, { type: 'delete', sessionId: 'sesn_7', fence: fences.get('sesn_7')! });
  expect(await store.heads(['sesn_7'])).toEqual(new Map());
  expect(await store.sessions.get('w1', 'sesn_7')).toBeUndefined();
  expect((await store.approvals.list({ workspaceId: 'w1', order: 'asc', limit: 100 })).items).toEqual([]);
  expect(await store.leases.findOrphans(100)).toEqual([]);
  await vi.waitFor(() => expect(countIn(folder)).toBe(0), { timeout: 1_000, interval: 50 });
  for (const id of fences.keys()) {
    if (id !== 'sesn_7') expect(show(await readAll(store, id)).length).toBe(300);
  }
  await store.close();
  expect(countIn(folder)).toBe(0);
});

it('[T40] whatever was written and in which order, nothing of a deleted session is in the file after a stop', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const folder = newFolder();
    const path = join(folder, 'a.db');
    const database = await Database.open(path, async () => {});
    const store = createSqliteStore(database);
    const fences = await writeWildly(store, seed);
    await commitOne(store, { type: 'delete', sessionId: 'sesn_7', fence: fences.get('sesn_7')! });
    await store.close();
    expect(countIn(folder)).toBe(0);
    const again = await Database.open(path);
    expect(again.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(again.prepare(`SELECT count(*) AS n FROM sessions WHERE workspace_id = ''`).get()).toEqual({ n: 0 });
    again.close();
  }
});

it('[T41] a long session is deleted in slices: the delete is answered at once and no slice takes 50 ms', async () => {
  const folder = newFolder();
  const database = await Database.open(join(folder, 'a.db'), async () => {});
  const store = createSqliteStore(database);
  const fence = await owned(store, 'sesn_1');
  const other = await owned(store, 'sesn_2');
  const frame = `${CANARY} ${'x'.repeat(20_000)}`;
  for (let round = 0; round < 60; round++) {
    await commitOne(
      store,
      append(
        'sesn_1',
        fence,
        Array.from({ length: 50 }, () => frame),
      ),
    );
  }
  const slices: number[] = [];
  const run = database.transaction.bind(database);
  database.transaction = (part) => {
    const beganAt = performance.now();
    try {
      return run(part);
    } finally {
      slices.push(performance.now() - beganAt);
    }
  };
  const startedAt = performance.now();
  await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  const rows = () => database.prepare<{ n: number }>('SELECT count(*) AS n FROM segments').get()!.n;
  const seen = new Set<number>();
  while (countPending(database) > 0) {
    seen.add(rows());
    await commitOne(store, append('sesn_2', other, ['goes on']));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // On a busy machine some steps take longer, but not most.
  expect(slices.toSorted((a, b) => a - b)[Math.floor(slices.length / 2)]).toBeLessThan(50);
  expect(seen.size).toBeGreaterThan(20);
  expect(60_000_000 / seen.size).toBeLessThan(4 * storeLimits.eraseBytesMax);
  await store.close();
  expect(countIn(folder)).toBe(0);
}, 30_000);

it('[T41] a deletion that a crash has cut is finished by the next start', async () => {
  const folder = newFolder();
  const path = join(folder, 'a.db');
  const store = await openSqliteStore({ path });
  const fence = await owned(store, 'sesn_1');
  const frame = `${CANARY} ${'x'.repeat(20_000)}`;
  for (let round = 0; round < 20; round++) {
    await commitOne(
      store,
      append(
        'sesn_1',
        fence,
        Array.from({ length: 50 }, () => frame),
      ),
    );
  }
  await store.close();
  await deleteAndDie(path);
  expect(countIn(folder)).toBeGreaterThan(0);
  const again = await openSqliteStore({ path });
  expect(await again.sessions.get('w1', 'sesn_1')).toBeUndefined();
  await vi.waitFor(() => expect(countIn(folder)).toBe(0), { timeout: 10_000, interval: 50 });
  await again.close();
}, 30_000);

it('[T42] a file of an older version is rewritten once, and contains nothing that was deleted before', async () => {
  const folder = newFolder();
  const path = join(folder, 'a.db');
  const old = await openSqliteStore({ path });
  const fences = await writeSessions(old, 12, 100);
  await old.close();
  const database = await Database.open(path);
  database.exec('PRAGMA secure_delete = OFF; PRAGMA user_version = 0');
  database.prepare('DELETE FROM sessions WHERE id = ?').run('sesn_7');
  const kept = JSON.stringify({ status: 200, body: { id: 'key_1', secret: `fleetloom_environment_${CANARY}` } });
  database.prepare('INSERT INTO idempotency_keys VALUES (?, ?, ?, ?)').run('w1', 'retry 1', 9e15, kept);
  database.close();
  expect(countIn(folder)).toBeGreaterThan(0);
  const store = await openSqliteStore({ path });
  expect(countIn(folder)).toBe(0);
  for (const id of fences.keys()) {
    if (id !== 'sesn_7') expect(show(await readAll(store, id)).length).toBe(100);
  }
  await store.close();
  const after = await Database.open(path);
  expect(after.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
  after.close();
});

it('[T42] a file that cannot be rewritten is opened anyway, and the problem is reported', async () => {
  const path = join(newFolder(), 'a.db');
  await (await openSqliteStore({ path })).close();
  const database = await Database.open(path);
  database.exec('PRAGMA user_version = 0');
  const problems: unknown[] = [];
  const exec = database.exec.bind(database);
  database.exec = (sql) => {
    if (sql === 'VACUUM') throw new Error('database or disk is full');
    exec(sql);
  };
  const store = createSqliteStore(database, undefined, (problem) => problems.push(problem));
  expect(String(problems[0])).toContain(
    'may still hold content of sessions that were deleted before (database or disk',
  );
  await commitOne(store, create('sesn_1'));
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  await store.close();
});

/** Sessions whose small appends alternate, so that their rows share pages. What `sesn_7` says has the canary. */
async function writeSessions(store: Store, sessions: number, rounds: number): Promise<Map<string, number>> {
  const fences = new Map<string, number>();
  for (let index = 1; index <= sessions; index++) fences.set(`sesn_${index}`, await owned(store, `sesn_${index}`));
  const secret = fences.get('sesn_7')!;
  for (let round = 0; round < rounds; round++) {
    const writes = [...fences].map(([id, fence]) =>
      append(id, fence, [`${id === 'sesn_7' ? CANARY : 'other'} ${round}`]),
    );
    await store.commit(writes);
  }
  const thread = { id: 'sthr_1', parentThreadId: null, status: 'idle' as const, createdAt: 1, data: { name: CANARY } };
  const approval = { id: 'ask_1', threadId: 'sthr_1', createdAt: 1, data: { input: CANARY } };
  const input = { ...enqueue('sevt_1').input, data: { say: CANARY } };
  await store.commit([
    append(
      'sesn_7',
      secret,
      [],
      [
        { type: 'create_thread', thread },
        { type: 'create_approval', approval },
        { type: 'enqueue_input', input },
        { type: 'update_session', updatedAt: 2, patch: { data: { title: CANARY } } },
      ],
    ),
  ]);
  return fences;
}

/** Rows of all sizes that grow, shrink and move: what makes SQLite rebuild pages and leave copies behind. */
async function writeWildly(store: Store, seed: number): Promise<Map<string, number>> {
  const fences = new Map<string, number>();
  for (let index = 1; index <= 12; index++) fences.set(`sesn_${index}`, await owned(store, `sesn_${index}`));
  let state = seed * 7_919;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const text = (id: string) => {
    const chars = [50, 300, 2_000, 10_000][random(4)]!;
    return `${id === 'sesn_7' ? CANARY : 'any-other-x'} `.repeat(Math.ceil(random(chars) / 12) + 1);
  };
  const known = new Set<string>();
  for (let round = 0; round < 1_500; round++) {
    const id = `sesn_${random(12) + 1}`;
    const threadId = `sthr_${random(40)}`;
    const data = { said: text(id) };
    const thread = { id: threadId, parentThreadId: null, status: 'idle' as const, createdAt: 1, data };
    const isKnown = known.has(`${id} ${threadId}`);
    known.add(`${id} ${threadId}`);
    await commitOne(
      store,
      append(id, fences.get(id)!, random(2) === 0 ? [text(id)] : [], [
        isKnown
          ? { type: 'update_thread', threadId, updatedAt: 2, patch: { data } }
          : { type: 'create_thread', thread },
        { type: 'update_session', updatedAt: 2, patch: { data: { title: text(id) } } },
      ]),
    );
  }
  return fences;
}

function countPending(database: Database): number {
  return database.prepare<{ n: number }>(`SELECT count(*) AS n FROM sessions WHERE workspace_id = ''`).get()!.n;
}

/** How often the canary is in any file of the folder, whatever SQLite thinks of it. */
function countIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => {
    const bytes = readFileSync(join(folder, name));
    let count = 0;
    for (let at = bytes.indexOf(CANARY); at !== -1; at = bytes.indexOf(CANARY, at + 1)) count++;
    return sum + count;
  }, 0);
}

/** Another process makes the delete known, as a store does, and is killed before it has erased anything. */
async function deleteAndDie(path: string): Promise<void> {
  const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const script = `const { DatabaseSync } = require(${JSON.stringify(driver)});
    const db = new DatabaseSync(${JSON.stringify(path)});
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON');
    db.exec("UPDATE sessions SET id = 'deleted ' || key, workspace_id = '', status = 'terminated', data = ''; DELETE FROM owners");
    process.kill(process.pid, 'SIGKILL');`;
  await once(spawn(process.execPath, ['-e', script]), 'exit');
}

it('[T41] erasing that fails, or whose database is closed under it, throws into no timer, and is tried again', async () => {
  const database = await Database.open(join(newFolder(), 'file.db'));
  createSqliteStore(database);
  const timers: (() => void)[] = [];
  const problems: unknown[] = [];
  const erasures = new Erasures(
    database,
    (problem) => problems.push(problem),
    () => {},
    (run) => {
      timers.push(run);
      return () => {};
    },
  );
  database.exec('ALTER TABLE checkpoints RENAME TO elsewhere');
  database.exec(
    "INSERT INTO sessions (id, workspace_id, agent_id, agent_version, environment_id, status, revision, created_at, updated_at, data) VALUES ('deleted 1', '', '', 0, '', 'terminated', 0, 0, 0, '')",
  );
  erasures.wake();
  await vi.waitFor(() => expect(problems).toHaveLength(1), 10_000);
  database.close();
  timers.at(-1)!();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(problems).toHaveLength(1);
});
