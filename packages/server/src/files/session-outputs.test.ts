import { mkdtempSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { measureHarm } from '../../../../test/support/measure-harm.ts';
import { fileLimits } from './limits.ts';
import { toolLimits } from '../tools/limits.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { listOutputs } from '../tools/workspace/session-files.ts';
import { OutputPaths } from './output-paths.ts';
import { OutputScans } from './output-scans.ts';
import { createSessionOutputs } from './session-outputs.ts';

it('[W100] an output that was listed is found, opened and deleted without listing the others', async () => {
  const { outputs, put, directoryOf, scans } = openBench();
  put('sesn_1', 'a.txt', 'sub/b.txt');
  const [a, b] = (await outputs.list('w1', 'sesn_1'))!;
  expect(scans()).toBe(1);
  expect(await outputs.find('w1', a!.id)).toEqual(a);
  const opened = await outputs.open('w1', b!.id);
  expect([opened?.file, String((await opened!.content.toArray())[0])]).toEqual([b, 'sub/b.txt']);
  // Written again it has the same id, and its metadata is new.
  writeFileSync(join(directoryOf('sesn_1'), 'a.txt'), 'longer than before');
  expect(await outputs.find('w1', a!.id)).toMatchObject({ id: a!.id, size_bytes: 18 });
  expect([await outputs.delete('w1', a!.id), await outputs.delete('w1', a!.id)]).toEqual([true, false]);
  expect(await outputs.find('w1', a!.id)).toBe(undefined);
  put('sesn_1', 'a.txt');
  expect(await outputs.find('w1', a!.id)).toMatchObject({ id: a!.id, size_bytes: 5 });
  expect(scans()).toBe(1);
  // Not through a link, where a list would not find it either.
  renameSync(join(directoryOf('sesn_1'), 'sub'), join(directoryOf('sesn_1'), '..', 'moved'));
  symlinkSync('../moved', join(directoryOf('sesn_1'), 'sub'));
  expect([await outputs.find('w1', b!.id), (await outputs.list('w1', 'sesn_1'))!.length]).toEqual([undefined, 1]);
  expect(await outputs.find('w2', a!.id)).toBe(undefined);
});

it('[W100] an output that was never listed is found by one scan', async () => {
  const { outputs, put } = openBench();
  put('sesn_1', 'a.txt');
  const [a] = (await outputs.list('w1', 'sesn_1'))!;
  const later = openBench();
  later.put('sesn_1', 'a.txt');
  expect(await later.outputs.find('w1', a!.id)).toMatchObject({ id: a!.id });
  expect(await later.outputs.find('w1', a!.id)).toMatchObject({ id: a!.id });
  expect(later.scans()).toBe(1);
});

it('[W100] the paths that are remembered have a limit, and the one that was used longest ago goes first', () => {
  const paths = new OutputPaths(2 * (2 * (2 + 3) + 100));
  paths.add('i1', 'p/1');
  paths.add('i2', 'p/2');
  expect(paths.get('i1')).toBe('p/1');
  paths.add('i3', 'p/3');
  expect(['i1', 'i2', 'i3'].map((id) => paths.get(id))).toEqual(['p/1', undefined, 'p/3']);
  expect(fileLimits.outputPathsBytesMax).toBe(16 * 1024 * 1024);
});

it('[W101] 100 requests for outputs of one session that are not known share two scans', async () => {
  const { outputs, put, scans } = openBench();
  put('sesn_1', 'a.txt');
  const first = outputs.find('w1', `file_out_1_${'0'.repeat(24)}`);
  await expect.poll(scans, { interval: 1 }).toBe(1);
  const others = Array.from({ length: 99 }, (_, index) =>
    outputs.find('w1', `file_out_1_${String(index).padStart(24, '0')}`),
  );
  expect(await Promise.all([first, ...others])).toEqual(Array.from({ length: 100 }, () => undefined));
  expect(scans()).toBeLessThanOrEqual(2);
});

it('[W101] a scan that has begun is not shared: a file written before a request is in its answer', async () => {
  const scans = new OutputScans<string[]>();
  const written = ['a'];
  const begun: (() => void)[] = [];
  const scan = async () => {
    const seen = [...written];
    await new Promise<void>((resolve) => begun.push(resolve));
    return seen;
  };
  const first = scans.share('w1', 'sesn_1', scan);
  await expect.poll(() => begun.length, { interval: 1 }).toBe(1);
  written.push('b');
  const second = scans.share('w1', 'sesn_1', scan);
  begun[0]!();
  await expect.poll(() => begun.length, { interval: 1 }).toBe(2);
  begun[1]!();
  expect([await first, await second]).toEqual([['a'], ['a', 'b']]);
});

it('[W102] one scan runs for each workspace, 100 wait, and one more is refused; a failure is for its own callers', async () => {
  const scans = new OutputScans<string>();
  let running = 0;
  let most = 0;
  const scan = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return 'done';
  };
  const failing = codeOf(
    scans.share('w1', 'sesn_0', async () => Promise.reject(Object.assign(new Error(), { code: 'own' }))),
  );
  const waiting = Array.from({ length: fileLimits.outputScansWaitingMax }, (_, index) =>
    scans.share('w1', `sesn_${index + 1}`, scan),
  );
  expect(await codeOf(scans.share('w1', 'sesn_more', scan))).toBe('too_many_requests');
  // Sharing takes no room, and other workspaces have their own.
  const others = [scans.share('w1', 'sesn_1', scan), scans.share('w2', 'sesn_more', async () => 'done')];
  expect(new Set(await Promise.all([...waiting, ...others]))).toEqual(new Set(['done']));
  expect([await failing, most, fileLimits.outputScansWaitingMax]).toEqual(['own', 1, 100]);
  expect(await scans.share('w1', 'sesn_more', scan)).toBe('done');
});

it('[W103] a list of 9,990 outputs, and 100 readers of one of them, hold the event loop for less than 50 ms', async () => {
  const { outputs, put } = openBench();
  put('sesn_1', ...Array.from({ length: 9_990 }, (_, index) => `f${index}`));
  const { result, stallMs } = await measureHarm(async () => {
    const lists = await Promise.all([1, 2, 3].map(() => outputs.list('w1', 'sesn_1')));
    const [{ id }] = lists[0] as unknown as [{ id: string }];
    const found = await Promise.all(Array.from({ length: 100 }, () => outputs.find('w1', id)));
    return { listed: lists.map((list) => list?.length), found: found.filter((file) => file?.id === id).length };
  });
  expect(result).toEqual({ listed: [9_990, 9_990, 9_990], found: 100 });
  // A busy machine may count some of its own.
  expect(stallMs).toBeLessThan(120);
});

it('[W103] of a directory of outputs no more than 20,000 entries are looked at', async () => {
  const { put, workspaceOf } = openBench();
  put('sesn_1', 'd/f0', 'f1', 'f2');
  const list = async (entriesMax: number) => (await listOutputs(workspaceOf('sesn_1'), 10, entriesMax)).length;
  // The directory is an entry too. A search that finds one more than it may look at ends.
  expect([await list(4), await list(3)]).toEqual([3, 1]);
  expect(toolLimits.outputEntriesMax).toBe(20_000);
});

it('[W113] an output with a modification time that no timestamp can express has the nearest time that one can', async () => {
  const [first, last] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];
  const times = [first, first - 1, -99_999_999_999_999_000, last, last + 1, 99_999_999_999_999_000];
  const outputs = createSessionOutputs({
    store: { sessions: { get: async () => ({}) } } as unknown as Parameters<typeof createSessionOutputs>[0]['store'],
    openWorkspace: async () => '/workspace',
    listFiles: async () => times.map((changedAt, index) => ({ path: `f${index}`, bytes: 1, changedAt })),
  });
  const listed = (await outputs.list('w1', 'sesn_1'))!;
  expect(listed.map(({ created_at }) => created_at)).toEqual([
    ...Array.from({ length: 3 }, () => '0000-01-01T00:00:00.000Z'),
    ...Array.from({ length: 3 }, () => '9999-12-31T23:59:59.999Z'),
  ]);
});

/** Session `sesn_1` and others of the workspace `w1`, which have their directories. */
function openBench() {
  const root = mkdtempSync(join(tmpdir(), 'fleetloom-outputs-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  let scans = 0;
  const workspaceOf = (sessionId: string) => join(root, sessionId);
  const directoryOf = (sessionId: string) => join(workspaceOf(sessionId), '.fleetloom', 'session', 'outputs');
  const outputs = createSessionOutputs({
    store: {
      sessions: { get: async (workspaceId: string) => (workspaceId === 'w1' ? {} : undefined) },
    } as unknown as Parameters<typeof createSessionOutputs>[0]['store'],
    openWorkspace: async (sessionId) => workspaceOf(sessionId),
    listFiles: (workspace) => {
      scans++;
      return listOutputs(workspace);
    },
  });
  const put = (sessionId: string, ...paths: string[]) => {
    for (const path of paths) {
      const file = join(directoryOf(sessionId), path);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, path);
    }
  };
  return { outputs, put, directoryOf, workspaceOf, scans: () => scans };
}
