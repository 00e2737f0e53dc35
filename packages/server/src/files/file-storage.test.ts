import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { compositionLimits } from '../composition/limits.ts';
import { sweep } from '../nodes/sweep.ts';
import { createWorkspaces } from '../workspaces/workspaces.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { type FileStore, openFileStore } from './file-store.ts';
import { fileLimits } from './limits.ts';
import { createDeferredMounts, createMountSweep, MOUNTING } from './deferred-mounts.ts';
import { createResourceDocuments, SESSION_RESOURCES } from './resource-store.ts';
import { createSessionResources } from './session-resources.ts';
import { createSharedFileStore } from './shared-file-store.ts';
import { createTreeRemover } from '../base/files/remove-tree.ts';

type Open = (clock: ManualClock, limits?: { filesMax: number; bytesMax: number }) => Promise<FileStore>;

const ids = createIds({ now: () => 0, random: Math.random });

const places: readonly [string, Open][] = [
  ['a directory', async (clock, bounds) => openFileStore({ directory: await makeDirectory(), clock, ids, ...bounds })],
  [
    'the store',
    async (clock, bounds) => createSharedFileStore({ store: createMemoryStore({ clock }), clock, ids, ...bounds }),
  ],
];

async function* bytes(...parts: readonly string[]) {
  for (const part of parts) yield Buffer.from(part);
}

const about = { filename: 'a.txt', mimeType: 'text/plain', expiresAt: null };

describe.each(places)('files in %s', (_, open) => {
  it('[P52] a file has the sent bytes, is listed in its workspace only, expires, and is gone when it is deleted', async () => {
    const clock = createManualClock(1_000);
    const files = await open(clock);
    const dropped = await files.receive('w1', bytes('no'));
    await dropped.drop();
    const first = await (await files.receive('w1', bytes('Hel', 'lo'))).keep(about);
    const second = await (await files.receive('w1', bytes('x'))).keep({ ...about, expiresAt: 2_000 });
    expect(first).toMatchObject({ type: 'file', filename: 'a.txt', mime_type: 'text/plain', size_bytes: 5 });
    expect((await buffer(files.content(first.id))).toString()).toBe('Hello');
    expect((await files.read(first.id))?.content.toString()).toBe('Hello');
    expect((await listAll(files)).map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
    expect([await listAll(files, 'w2'), await files.find('w2', first.id)]).toEqual([[], undefined]);
    expect(await files.find('w1', '../../etc')).toBeUndefined();
    clock.advance(1_000);
    expect(await files.find('w1', second.id)).toBeUndefined();
    expect(await listAll(files)).toEqual([first]);
    expect(await files.delete('w2', first.id)).toBe(false);
    expect(await files.delete('w1', first.id)).toBe(true);
    expect([await files.read(first.id), await listAll(files)]).toEqual([undefined, []]);
  });

  it('[P52] one that is too large, and one too many, is refused and leaves nothing', async () => {
    const files = await open(createManualClock(0), { filesMax: 1, bytesMax: 4 });
    expect(await codeOf(files.receive('w1', bytes('abc', 'de')))).toBe('body_too_large');
    expect(await listAll(files)).toEqual([]);
    await (await files.receive('w1', bytes('abcd'))).keep(about);
    expect(await codeOf(files.receive('w1', bytes('a')))).toBe('invalid_request');
  });

  it('[W112] files are counted for each workspace: one that has as many as it may have takes no room from another', async () => {
    const files = await open(createManualClock(0), { filesMax: 2, bytesMax: 4 });
    const put = (workspaceId: string) =>
      codeOf(files.receive(workspaceId, bytes('a')).then((received) => received.keep(about)));
    expect([await put('w1'), await put('w1'), await put('w1')]).toEqual(['ok', 'ok', 'invalid_request']);
    expect([await put('w2'), await put('w2'), await put('w2')]).toEqual(['ok', 'ok', 'invalid_request']);
    const { files: mine } = await files.list('w1', { limit: 1 });
    await files.delete('w1', mine[0]!.id);
    expect([await put('w1'), await put('w1')]).toEqual(['ok', 'invalid_request']);
    expect(fileLimits.uploadsMax).toBe(100_000);
  });

  it('[W111] a list of a workspace is paged from any id in both directions, without expired files', async () => {
    const clock = createManualClock(1_000);
    const files = await open(clock);
    const made: string[] = [];
    for (let count = 0; count < 6; count++) {
      const expiresAt = count % 3 === 2 ? 2_000 : null;
      made.push((await (await files.receive('w1', bytes('a'))).keep({ ...about, expiresAt })).id);
      await (await files.receive('w2', bytes('a'))).keep(about);
    }
    const newest = made.toSorted().toReversed();
    const list = async (range: { limit: number; after?: string; before?: string }) => {
      const { files: found, hasMore } = await files.list('w1', range);
      return [found.map(({ id }) => newest.indexOf(id)).join(''), hasMore];
    };
    expect(await list({ limit: 6 })).toEqual(['012345', false]);
    expect(await list({ limit: 5 })).toEqual(['01234', true]);
    expect(await list({ limit: 2, after: newest[1]! })).toEqual(['23', true]);
    expect(await list({ limit: 2, before: newest[4]! })).toEqual(['23', true]);
    expect(await list({ limit: 9, before: newest[4]!, after: newest[1]! })).toEqual(['23', false]);
    expect(await list({ limit: 1, before: newest[0]! })).toEqual(['', false]);
    await files.delete('w1', newest[1]!);
    expect(await list({ limit: 1, after: newest[1]! })).toEqual(['2', true]);
    clock.advance(1_000);
    const kept = newest.filter((id) => id !== newest[1] && made.indexOf(id) % 3 !== 2);
    const { files: left, hasMore } = await files.list('w1', { limit: kept.length });
    expect([left.map(({ id }) => id), hasMore]).toEqual([kept, false]);
  });
});

it('[P53] a file mounted through one node is in the workspace on another when it is used next, also after the file was deleted', async () => {
  const clock = createManualClock(0);
  const store = createMemoryStore({ clock });
  const files = createSharedFileStore({ store, clock, ids });
  const resourceStore = createResourceDocuments(store);
  const directory = await makeDirectory();
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const openNode = (name: string) => {
    const mounts = createDeferredMounts({
      store,
      resourceStore,
      directory: join(directory, name, 'mounted'),
      onProblem,
    });
    return { mounts, resources: createSessionResources({ resourceStore, files, mounts, clock, ids }) };
  };
  const [one, two] = [openNode('one'), openNode('two')];
  const file = await (await files.receive('w1', bytes('content'))).keep(about);
  const at = { workspaceId: 'w1', sessionId: 'sesn_1' };
  const mount = (path: string) => ({ type: 'file' as const, file_id: file.id, mount_path: path });
  const added = await Promise.all([
    one.resources.add(at, [mount('/workspace/a.txt')]),
    two.resources.add(at, [mount('/workspace/b.txt')]),
  ]);
  await files.delete('w1', file.id);
  expect(await two.resources.list('sesn_1')).toHaveLength(2);
  const remover = createTreeRemover({ onProblem: () => {} });
  const workspace = await createWorkspaces({ directory: join(directory, 'workspaces'), remover }).open('sesn_1');
  await two.mounts.bring('sesn_1', workspace);
  const read = (name: string) => readFile(join(workspace, name), 'utf8').catch(() => undefined);
  expect([await read('a.txt'), await read('b.txt')]).toEqual(['content', 'content']);
  expect(await one.resources.delete('sesn_1', added[0][0]!.id)).toBe(true);
  await two.mounts.bring('sesn_1', workspace);
  expect([await read('a.txt'), await read('b.txt')]).toEqual([undefined, 'content']);
  await one.resources.forget('sesn_1');
  expect(await two.resources.list('sesn_1')).toEqual([]);
  expect(problems).toEqual([]);
});

async function listAll(files: FileStore, workspaceId = 'w1') {
  return (await files.list(workspaceId, { limit: 1_000 })).files;
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-files-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

it('[P103] files that a killed node had mounted for a session that was never created are removed from the store', async () => {
  const clock = createManualClock(1_000);
  const store = createMemoryStore({ clock });
  const resourceStore = createResourceDocuments(store);
  const mounts = createDeferredMounts({ store, resourceStore, directory: await makeDirectory(), onProblem: () => {} });
  const resourceOf = (id: string) =>
    ({ type: 'file', id, file_id: 'file_1', mount_path: `/workspace/${id}`, created_at: '', updated_at: '' }) as const;
  // One was killed before the files were noted, one before the session was made.
  await mounts.begin!('sesn_1', [resourceOf('sesrsc_1')]);
  await mounts.put('sesn_1', resourceOf('sesrsc_1'), () => Readable.from([Buffer.from('x')]));
  const isDone = await mounts.begin!('sesn_2', [resourceOf('sesrsc_2')]);
  await mounts.put('sesn_2', resourceOf('sesrsc_2'), () => Readable.from([Buffer.from('x')]));
  await resourceStore.change('sesn_2', async () => [resourceOf('sesrsc_2')]);
  await isDone();
  const files = { find: async () => undefined, content: () => Readable.from([]) };
  const resources = createSessionResources({ resourceStore, files, mounts, clock, ids });
  const sweepables = [
    { kind: MOUNTING, keepMs: compositionLimits.mountingMs, onSwept: createMountSweep(store, resourceStore) },
    { kind: SESSION_RESOURCES, isOfSession: true, onSwept: ({ id }: { id: string }) => resources.forget(id) },
  ];
  const has = (id: string) => codeOf(buffer(store.blobs.read(`mount_${id}`)));
  clock.advance(compositionLimits.mountingMs);
  expect(await sweep(store, sweepables)).toBe(1);
  expect([await has('sesrsc_1'), await has('sesrsc_2')]).toEqual(['ok', 'not_found']);
  clock.advance(1);
  expect(await sweep(store, sweepables)).toBe(1);
  expect(await has('sesrsc_1')).toBe('not_found');
});
