import { execFileSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { cpuMs, recordRepository } from './workspaces-files.ts';
import { openPlainFleets } from './workspaces-plain.ts';
import { measureWorktrees } from './workspaces-worktree.ts';

it('[WS82] the bench of workspaces measures a repository with the number of files it names, and each round records its own change', async () => {
  const files = await recordRepository(2_500);
  onTestFinished(() => files.remove());
  const tracked = execFileSync('git', ['ls-files'], { cwd: files.directory, encoding: 'utf8' });
  expect(tracked.trim().split('\n')).toHaveLength(2_500);
  const trees = [files.tree()];
  await files.edit(1);
  trees.push(files.tree());
  await files.command(1, 3);
  trees.push(files.tree());
  const counts = await Promise.all(
    trees.slice(1).map(async (tree, at) => (await files.snapshots.diffTrees(files.sessionId, trees[at]!, tree)).length),
  );
  expect(counts).toEqual([1, 3]);
});

it('[WS82] CPU time counts that of processes which have ended', () => {
  const before = cpuMs();
  execFileSync(process.execPath, ['-e', 'const end = Date.now() + 300; while (Date.now() < end);']);
  expect(cpuMs() - before).toBeGreaterThan(100);
});

it('[WS39] the bench of worktrees creates complete worktrees in both ways, in turns', async () => {
  const files = await recordRepository(2_500);
  onTestFinished(() => files.remove());
  const rounds = await measureWorktrees(files.directory, 2);
  expect(rounds.map(({ oursFiles, gitFiles }) => [oursFiles, gitFiles])).toEqual([
    [2_500, 2_500],
    [2_500, 2_500],
  ]);
  for (const { oursMs, gitMs } of rounds) expect(Math.min(oursMs, gitMs)).toBeGreaterThan(0);
});

it('[WS82] the bench of sessions without a workspace runs the same session with and without recorders, and opens none', async () => {
  const { without, recording, close } = await openPlainFleets();
  onTestFinished(close);
  await without();
  await recording();
});
