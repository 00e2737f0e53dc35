import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { workspaceLimits } from '../limits.ts';
import { createInPlaceLocks } from './in-place-locks.ts';
import { createMachineLocks } from './machine-locks.ts';

const SESSION_1 = { sessionId: 'sesn_1', isKilled: false };
const recordOf = (sessionId: string) => `/nowhere/${sessionId}`;

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-locks-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

it('[WS242] a directory that a session of another server works on in place is held until that server releases it', async () => {
  const directory = await makeDirectory();
  const [one, two] = ['/data/1', '/data/2'].map((dataDirectory) =>
    createMachineLocks({ dataDirectory, directory, recordOf }),
  );
  expect(await one!.acquire('sesn_1', '/a/b')).toBeUndefined();
  for (const path of ['/a/b', '/a', '/a/b/c']) expect(await two!.acquire('sesn_2', path)).toEqual(SESSION_1);
  expect([await two!.acquire('sesn_2', '/a/bc'), two!.held()]).toEqual([undefined, ['sesn_2']]);
  // The store of a server has the locks of its own sessions, and a session may be opened again.
  expect(await one!.acquire('sesn_3', '/a/b')).toBeUndefined();
  const elsewhere = createMachineLocks({ dataDirectory: '/data/3', directory, recordOf, machine: 'another' });
  expect(await elsewhere.acquire('sesn_4', '/a/b')).toBeUndefined();
  for (const id of ['sesn_1', 'sesn_3']) await one!.release(id);
  expect(await two!.acquire('sesn_5', '/a/b')).toBeUndefined();
  expect((await readdir(directory)).toSorted()).toEqual(['sesn_2.json', 'sesn_4.json', 'sesn_5.json']);
});

it('[WS452] a lock counts after its process was killed, also if another process has its id, until the workspace of its session is removed', async () => {
  const directory = await makeDirectory();
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const record = join(directory, 'record');
  const first = createMachineLocks({ dataDirectory: '/data/1', directory, recordOf: () => record });
  await first.acquire('sesn_1', '/a');
  const lock = JSON.parse(await readFile(join(directory, 'sesn_1.json'), 'utf8')) as object;
  const next = createMachineLocks({ dataDirectory: '/data/2', directory, recordOf });
  expect(await next.acquire('sesn_2', '/a')).toEqual(SESSION_1);
  for (const killed of [{ pid: child.pid }, { started: '1' }]) {
    await writeFile(join(directory, 'sesn_1.json'), JSON.stringify({ ...lock, ...killed }));
    await writeFile(record, '');
    expect(await next.acquire('sesn_2', '/a')).toEqual({ sessionId: 'sesn_1', isKilled: true });
    await rm(record);
    expect(await next.acquire('sesn_2', '/a')).toBeUndefined();
    expect(await readdir(directory)).toEqual(['sesn_2.json']);
    await next.release('sesn_2');
  }
});

it('[WS452] a server takes over the locks that an earlier one on its data has left, of sessions that have not ended', async () => {
  const directory = await makeDirectory();
  const clock = systemClock;
  const store = createMemoryStore({ clock });
  const [killed, next] = ['/data/1', '/data/1'].map((dataDirectory) => {
    return createInPlaceLocks(store, { machineLocks: createMachineLocks({ dataDirectory, directory, recordOf }) });
  });
  onTestFinished(() => next!.close());
  for (const [sessionId, path] of [
    ['sesn_1', '/a'],
    ['sesn_2', '/b'],
  ] as const) {
    await killed!.acquire({ workspaceId: 'w', sessionId }, path);
    await writeFile(join(directory, `${sessionId}.json`), await withDeadOwner(join(directory, `${sessionId}.json`)));
  }
  await store.documents.delete('in_place_lock', 'sesn_2');
  await next!.resume();
  expect(await readdir(directory)).toEqual(['sesn_1.json']);
  const other = createMachineLocks({ dataDirectory: '/data/2', directory, recordOf });
  expect(await other.acquire('sesn_3', '/a')).toEqual(SESSION_1);
});

/** A lock as a process has left it that is gone. */
async function withDeadOwner(file: string): Promise<string> {
  return JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), started: '1' });
}

it('[WS242] an error names the session of the other server, and a session that has ended releases its directory', async () => {
  const directory = await makeDirectory();
  const open = (dataDirectory: string) => {
    const store = createMemoryStore({ clock: systemClock });
    const locks = createInPlaceLocks(store, {
      machineLocks: createMachineLocks({ dataDirectory, directory, recordOf }),
    });
    onTestFinished(() => locks.close());
    return { store, locks };
  };
  const [one, two] = [open('/data/1'), open('/data/2')];
  await one.locks.acquire({ workspaceId: 'w', sessionId: 'sesn_1' }, '/a');
  const take = () => two.locks.acquire({ workspaceId: 'w', sessionId: 'sesn_2' }, '/a');
  await expect(take()).rejects.toThrow(/sesn_1 of another server works on \/a in place/);
  await one.store.documents.delete('in_place_lock', 'sesn_1');
  await expect.poll(() => readdir(directory), { timeout: workspaceLimits.heldLockLookMs * 4 }).toEqual([]);
  await take();
  await two.locks.close();
  expect(await readdir(directory)).toEqual([]);
}, 20_000);

it('[WS242] without a directory that can be written there is no lock between servers', async () => {
  const file = join(await makeDirectory(), 'file');
  await writeFile(file, '');
  const locks = createMachineLocks({ dataDirectory: '/data/1', directory: join(file, 'in-place'), recordOf });
  expect([await locks.acquire('sesn_1', '/a'), locks.held()]).toEqual([undefined, []]);
});
