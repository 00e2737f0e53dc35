import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { GitFailure } from '../git/git-failure.ts';
import { createGit, type Git } from '../git/run-git.ts';
import { findCandidates } from './find-candidates.ts';
import { snapshotLimits } from './objects/limits.ts';
import { SnapshotRepository } from './objects/snapshot-repository.ts';
import { openSnapshotBench } from './snapshots.suite.ts';

/** Node cannot remove directories that are this deep. */
async function openDeepBench() {
  const bench = await openSnapshotBench();
  onTestFinished(() => void execFileSync('rm', ['-rf', bench.directory]));
  return bench;
}

it('[WS425] a file in more than 200 directories is not recorded and named, and the others are recorded', async () => {
  const bench = await openDeepBench();
  const toDeep = (depth: number) => `${'n/'.repeat(depth)}f`;
  bench.put(toDeep(snapshotLimits.pathDepthMax), 'x\n');
  bench.put(`m/${toDeep(snapshotLimits.pathDepthMax)}`, 'x\n');
  bench.put(toDeep(1_900), 'x\n');
  bench.put('top.txt', 'x\n');
  const change = await bench.call('toolu_1');
  expect(change?.payload.files.map(({ path }) => path)).toEqual([toDeep(200), 'top.txt']);
  expect(change?.payload.not_recorded).toEqual([
    { path: `m/${toDeep(200)}`, reason: 'unsupported' },
    { path: toDeep(1_900), reason: 'unsupported' },
  ]);
  expect(snapshotLimits.pathDepthMax).toBe(200);
});

it('[WS426] a directory whose path is too long for the system is named as not recorded', async () => {
  const bench = await openDeepBench();
  bench.put('top.txt', 'x\n');
  const name = 'd'.repeat(200);
  // No single path of the system is as long: each process makes a part.
  for (let depth = 0; depth < 25; depth += 5) {
    const step = (count: number) => `cd ${Array.from({ length: count }, () => name).join('/')}`;
    const down = Array.from({ length: depth / 5 }, () => step(5));
    const script = [...down, `mkdir -p ${Array.from({ length: 5 }, () => name).join('/')}`].join(' && ');
    execFileSync('/bin/bash', ['-c', script], { cwd: bench.directory });
  }
  const change = await bench.call('toolu_1');
  expect(change?.payload.files.map(({ path }) => path)).toEqual(['top.txt']);
  const [notRecorded, ...more] = change!.payload.not_recorded!;
  expect(notRecorded).toMatchObject({ reason: 'unreadable', path: expect.stringMatching(/^(d{200}\/){10,}$/) });
  expect(more).toEqual([]);
});

it('[WS427] a nested repository whose files cannot be listed is named as not recorded', async () => {
  const bench = await openSnapshotBench();
  for (const inside of ['objects', 'refs']) mkdirSync(join(bench.directory, 'nest/.git', inside), { recursive: true });
  writeFileSync(join(bench.directory, 'nest/.git/HEAD'), 'ref: refs/heads/main\n');
  bench.put('nest/file', 'x\n');
  const real = createGit('git');
  const nested = join(bench.directory, 'nest/');
  const failing: Git = {
    run: async (args, options) => {
      if (options.cwd !== nested) return await real.run(args, options);
      throw new GitFailure('git ls-files wrote more than 67108864 bytes', { code: null, stderr: '' });
    },
  };
  const repository = (await SnapshotRepository.open(failing, bench.repository))!;
  const place = { repository, directory: bench.directory, indexFile: repository.file('no-index') };
  const { untracked, notRecorded } = await findCandidates({ ...place, excludeFile: '/dev/null' });
  expect(untracked).toEqual([]);
  expect(notRecorded).toEqual([{ path: 'nest/', reason: 'unreadable' }]);
});
