import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { append, create, owned } from '../suite/samples.suite.ts';
import { Database } from './database.ts';
import { createSqliteStore, openSqliteStore } from './sqlite-store.ts';

let folder: string;
let count = 0;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'fleetloom-wal-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newPath = () => join(folder, `${count++}.db`);

/** A store on a disk whose syncs the test completes. */
async function openHeld() {
  const waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  let isHeld = false;
  let syncs = 0;
  const sync = () => {
    syncs++;
    return isHeld ? new Promise<void>((resolve, reject) => waiting.push({ resolve, reject })) : Promise.resolve();
  };
  const path = newPath();
  const store = createSqliteStore(await Database.open(path, sync));
  return {
    path,
    store,
    hold: () => void (isHeld = true),
    release: () => {
      isHeld = false;
      for (const { resolve } of waiting.splice(0)) resolve();
    },
    fail: () => {
      for (const { reject } of waiting.splice(0)) reject(new Error('EIO: i/o error'));
    },
    syncs: () => syncs,
  };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Whether it is there by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(
    () => (done = true),
    () => (done = true),
  );
  for (let round = 0; round < 5; round++) await tick();
  return done;
}

it('[V101] a commit is not visible before it is on the disk: neither to its writer nor to readers, nor by a signal', async () => {
  const { store, hold, release } = await openHeld();
  const fence = await owned(store, 'sesn_1');
  const signals: unknown[] = [];
  store.subscribe((more) => signals.push(...more));
  hold();
  const committed = store.commit([append('sesn_1', fence, ['a'])]);
  const read = store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 9, bytesMax: 9_999 });
  const heads = store.heads(['sesn_1']);
  const released = store.leases.release({ sessionId: 'sesn_1', fence });
  expect(await Promise.all([committed, read, heads, released].map(isDone))).toEqual([false, false, false, false]);
  expect(signals).toEqual([]);
  release();
  expect(await committed).toMatchObject([{ ok: true }]);
  expect((await heads).get('sesn_1')).toBe((await read).at(-1)!.lastSeq);
  await tick();
  expect(signals).toMatchObject([{ type: 'frames', sessionId: 'sesn_1' }]);
  await store.close();
});

it('[V101] one sync covers all commits before it, and reading synced data needs none', async () => {
  const { store, hold, release, syncs } = await openHeld();
  const fence = await owned(store, 'sesn_1');
  const before = syncs();
  hold();
  const first = store.commit([append('sesn_1', fence, ['a'])]);
  const more = ['b', 'c', 'd'].map((text) => store.commit([append('sesn_1', fence, [text])]));
  await tick();
  expect(syncs()).toBe(before + 1);
  release();
  await Promise.all([first, ...more]);
  // The first began before the others were there; one more was for all of them.
  expect(syncs()).toBe(before + 2);
  await store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 9, bytesMax: 9_999 });
  await store.sessions.get('w1', 'sesn_1');
  expect(syncs()).toBe(before + 2);
  await store.close();
});

it('[V101] after a failed sync every read and write is refused, and the next start finds the stored data', async () => {
  const { store, hold, fail, path } = await openHeld();
  const fence = await owned(store, 'sesn_1');
  hold();
  const committed = store.commit([append('sesn_1', fence, ['a'])]);
  const failure = 'the disk failed, start the server again (EIO: i/o error)';
  await tick();
  fail();
  await expect(committed).rejects.toThrow(failure);
  await expect(store.heads(['sesn_1'])).rejects.toThrow(failure);
  await expect(store.commit([create('sesn_2')])).rejects.toThrow(failure);
  await store.close().catch(() => undefined);
  const again = await openSqliteStore({ path });
  expect((await again.heads(['sesn_1'])).has('sesn_1')).toBe(true);
  await again.close();
});

it('[V101] acknowledged writes are in the file while the process runs', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path });
  const fence = await owned(store, 'sesn_1');
  await store.commit([append('sesn_1', fence, ['durable'])]);
  // As if the process were gone now: nothing but the two files is left. Another one copies them, because reading a file
  // of the database here would lose its lock.
  const copy = newPath();
  const program = `for (const end of ['', '-wal']) fs.copyFileSync(process.argv[1] + end, process.argv[2] + end)`;
  execFileSync(process.execPath, ['-e', program, path, copy]);
  const after = await openSqliteStore({ path: copy });
  expect(await after.heads(['sesn_1'])).toEqual(await store.heads(['sesn_1']));
  await after.close();
  await store.close();
});
