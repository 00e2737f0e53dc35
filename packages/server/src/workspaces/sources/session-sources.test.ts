import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { closing, Directory } from '../../tools/workspace/directory.ts';
import type { SandboxState } from '../../tools/sandbox/sandbox.ts';
import { createAllowedDirectories } from './allowed-directories.ts';
import { copyTree, createCopying } from './copy-tree.ts';
import { createInPlaceLocks } from './in-place-locks.ts';
import { createSetupRunner } from './run-setup.ts';
import { createSessionSources } from './session-sources.ts';
import { unusedRepositories } from '../unused-repositories.suite.ts';
import { PLAIN_MOUNTS } from '../workspace-source.ts';
import { workspaceLimits } from '../limits.ts';

/** No other server is on this machine. */
const machineLocks = {
  acquire: async () => undefined,
  release: async () => {},
  held: () => [],
  left: async () => [],
  removeLeft: async () => {},
};

it('[WS17] a session is bound to this node before its directory is stored, and not if the directory is refused', async () => {
  const root = await makeDirectory();
  const done: string[] = [];
  const dataDirectory = join(root, 'data');
  const sources = createSessionSources({
    git: { run: () => Promise.reject(new Error('there is no repository')) },
    allowed: createAllowedDirectories([join(root, 'allowed')], dataDirectory),
    dataDirectory,
    isSandboxed: async () => false,
    repositories: unusedRepositories,
    locks: createInPlaceLocks(createMemoryStore({ clock: systemClock }), { machineLocks }),
    settle: async (sessionId) => void done.push(`settled ${sessionId}`),
    resources: {
      addSource: async (sessionId, source) => {
        done.push(`stored ${sessionId}`);
        return { ...source, id: 'sesrsc_1', created_at: '', updated_at: '' } as never;
      },
    },
  });
  const session = { workspaceId: 'w', sessionId: 'sesn_1' };
  await mkdir(join(root, 'allowed/a'), { recursive: true });
  await expect(sources.add(session, [{ type: 'directory', path: root }])).rejects.toThrow(/--allow-directory/);
  expect(done).toEqual([]);
  const [added] = await sources.add(session, [{ type: 'directory', path: join(root, 'allowed/a') }]);
  expect(added).toMatchObject({ type: 'directory', mode: 'copy' });
  expect(done).toEqual(['settled sesn_1', 'stored sesn_1']);
  const readOnly = { type: 'directory', path: join(root, 'allowed/a'), mode: 'read_only' } as const;
  await expect(sources.add(session, [readOnly])).rejects.toThrow(/read_only needs a sandbox/);
});

it('[WS7] a lock of a session that was never created does not count after a minute, and other machines have their own', async () => {
  let now = 0;
  const store = createMemoryStore({ clock: { now: () => now, steady: () => now } });
  const locks = createInPlaceLocks(store, { machine: 'one', machineLocks });
  const take = (sessionId: string, path: string) => locks.acquire({ workspaceId: 'w', sessionId }, path);
  await take('sesn_1', '/a/b');
  for (const path of ['/a/b', '/a', '/a/b/c', '/'])
    await expect(take('sesn_2', path)).rejects.toThrow(/sesn_1 works on/);
  await take('sesn_3', '/a/bc');
  await createInPlaceLocks(store, { machine: 'two', machineLocks }).acquire(
    { workspaceId: 'w', sessionId: 'sesn_4' },
    '/a/b',
  );
  now = workspaceLimits.unmadeLockMs;
  await expect(take('sesn_2', '/a/b')).rejects.toThrow(/sesn_1/);
  now++;
  await take('sesn_2', '/a/b');
  await locks.release('sesn_2');
  await take('sesn_5', '/a');
});

it('[WS406] an error about a held directory names a session of the same workspace, and none of another', async () => {
  const locks = createInPlaceLocks(createMemoryStore({ clock: systemClock }), { machineLocks });
  await locks.acquire({ workspaceId: 'one', sessionId: 'sesn_1' }, '/a');
  const refusalOf = async (workspaceId: string) =>
    await locks.acquire({ workspaceId, sessionId: 'sesn_2' }, '/a').then(
      () => 'accepted',
      (error: unknown) => inspect(error, { depth: null }),
    );
  expect(await refusalOf('one')).toContain('sesn_1 works on /a');
  const other = await refusalOf('two');
  expect(other).toContain('a session of another workspace works on /a in place');
  expect(other).not.toContain('sesn_1');
});

it('[WS29] a copy stops at its limits of entries and of depth', async () => {
  const root = await makeDirectory();
  const deep = Array.from({ length: workspaceLimits.copiedDepthMax + 1 }, () => 'd');
  const copy = async (from: string, entriesLeft?: number) => {
    const target = await makeDirectory();
    const copying = createCopying();
    if (entriesLeft !== undefined) copying.entriesLeft = entriesLeft;
    await closing(await Directory.openRoot(from), async (source) => {
      await closing(await Directory.openRoot(target), (to) => copyTree(source, to, copying));
    });
  };
  await mkdir(join(root, 'flat'));
  for (const name of ['a', 'b', 'c']) await writeFile(join(root, 'flat', name), name);
  await copy(join(root, 'flat'), 3);
  await expect(copy(join(root, 'flat'), 2)).rejects.toThrow(/has more than .* files and directories/);
  await mkdir(join(root, ...deep.slice(1)), { recursive: true });
  await rm(join(root, 'flat'), { recursive: true });
  await copy(root);
  await mkdir(join(root, ...deep));
  await expect(copy(root)).rejects.toThrow(/is deeper than/);
});

it('[WS19] a setup command that takes too long is stopped, and the end of a long output is kept', async () => {
  const workspace = await makeDirectory();
  const openSandbox = async (): Promise<SandboxState> => ({ type: 'unavailable', reason: 'the test has none' });
  const request = { workspace, mounts: PLAIN_MOUNTS };
  const run = createSetupRunner({ openSandbox, allowsUnsandboxed: true, timeoutMs: 2_000 });
  expect(await run({ ...request, command: 'echo one; sleep 60' })).toMatchObject({ code: null, output: 'one\n' });
  const bytes = workspaceLimits.setupOutputBytesMax;
  const whole = await run({ ...request, command: `head -c ${bytes - 4} /dev/zero | tr '\\0' x; echo end` });
  expect(whole).toMatchObject({ code: 0, isCut: false });
  const cut = await run({ ...request, command: `head -c ${bytes - 3} /dev/zero | tr '\\0' x; echo end; exit 7` });
  expect(cut).toMatchObject({ code: 7, isCut: true });
  expect(cut.output).toHaveLength(bytes);
  expect(cut.output.endsWith('xend\n')).toBe(true);
  const strict = createSetupRunner({ openSandbox, allowsUnsandboxed: false });
  await expect(strict({ ...request, command: 'true' })).rejects.toThrow(
    /run in a sandbox, and there is none: the test has none/,
  );
});

async function makeDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-sources-')));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
