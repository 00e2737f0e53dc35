import { expect, it } from 'vitest';
import { GitFailure } from '../git/git-failure.ts';
import { createGit, type Git } from '../git/run-git.ts';
import { diffTrees, unifiedDiffs } from './diff-trees.ts';
import { snapshotLimits } from './objects/limits.ts';
import { SnapshotRepository } from './objects/snapshot-repository.ts';
import { openSnapshotBench } from './snapshots.suite.ts';

it('[WS420] where lines cost more than 2 s to count, those of files of more than 1 MiB are not counted, and all files are recorded', async () => {
  const bench = await openSnapshotBench();
  const most = snapshotLimits.countedFileBytesMax;
  bench.put('hostile.txt', toHostile(1));
  const before = await bench.recordAll();
  bench.put('hostile.txt', toHostile(2));
  bench.put('counted.txt', 'a\n'.repeat(most / 2));
  bench.put('large.txt', `${'a\n'.repeat(most / 2)}b`);
  const change = await bench.call('toolu_1');
  expect(change?.payload).toMatchObject({ files_count: 3, lines_added: most / 2 });
  expect(change?.payload.not_recorded ?? []).toEqual([]);
  const files = await bench.snapshots.diffTrees(bench.sessionId, before, change!.payload.tree);
  expect(files.map(({ path, added, removed }) => [path, added, removed])).toEqual([
    ['counted.txt', most / 2, 0],
    ['hostile.txt', null, null],
    ['large.txt', null, null],
  ]);
  expect([most, snapshotLimits.countCpuSeconds]).toEqual([2 ** 20, 2]);
}, 60_000);

/** Lines that nearly all occur in both texts, in another order: git needs minutes to compare two of them. */
function toHostile(seed: number): string {
  let state = seed;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) > 2 ** 30;
  return Array.from({ length: 3_500_000 }, () => (next() ? 'a\n' : 'b\n')).join('');
}

it('[WS421] a comparison has 512 MiB of memory, 10 s of processor time and 20 s; beyond that lines are not counted and a diff is too large', async () => {
  const bench = await openSnapshotBench();
  bench.put('file.txt', 'text\n');
  const tree = await bench.recordAll();
  const asked: unknown[] = [];
  const real = createGit('git');
  const killed: Git = {
    run: async (args, options) => {
      if (!args.includes('--numstat') && !args.includes('-p')) return await real.run(args, options);
      asked.push({ ...options.limits, timeoutMs: options.timeoutMs });
      throw new GitFailure('git diff-tree failed: exit code null', { code: null, stderr: '' });
    },
  };
  const repository = (await SnapshotRepository.open(killed, bench.repository))!;
  const files = await diffTrees(repository, bench.opened, tree);
  expect(files).toMatchObject([{ path: 'file.txt', status: 'added', added: null, removed: null }]);
  expect(await unifiedDiffs(repository, files)).toBeUndefined();
  const cost = { dataBytes: 512 * 1024 ** 2, cpuSeconds: 10, fileBytes: 8 * 1024 ** 2, timeoutMs: 20_000 };
  expect(asked).toEqual([{ ...cost, cpuSeconds: 2 }, cost, cost]);
});

it('[WS423] recorded files are not compared for a client that is gone', async () => {
  const bench = await openSnapshotBench();
  bench.put('file.txt', 'text\n');
  const tree = await bench.recordAll();
  const trees = [bench.sessionId, bench.opened, tree] as const;
  expect(await bench.snapshots.forRequest(new AbortController().signal).diffTrees(...trees)).toHaveLength(1);
  await expect(bench.snapshots.forRequest(AbortSignal.abort()).diffTrees(...trees)).rejects.toMatchObject({
    code: 'request_timeout',
  });
});
