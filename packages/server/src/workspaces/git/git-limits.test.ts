import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openGitServer } from '../clone/git-server.suite.ts';
import { openRepositoriesBench } from '../clone/repositories.suite.ts';
import { workspaceLimits } from '../limits.ts';
import { createGit } from './run-git.ts';

function openScript(script: string) {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-git-limits-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const program = join(directory, 'git');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return async (limits: { dataBytes: number; cpuSeconds: number; fileBytes: number }) =>
    await createGit(program).run(['status'], { cwd: directory, limits });
}

it('[WS360] a git process has the memory, processor time and file size that it is given, and is ended when it needs more', async () => {
  const show = openScript('ulimit -d; ulimit -t; ulimit -f; ulimit -c');
  const { stdout } = await show({ dataBytes: 64 * 1024 ** 2, cpuSeconds: 7, fileBytes: 1024 ** 2 });
  expect(stdout.toString()).toBe(`${64 * 1024}\n7\n2048\n0\n`);
  const burn = openScript('while :; do :; done');
  await expect(burn({ dataBytes: 1024 ** 3, cpuSeconds: 1, fileBytes: 1024 ** 2 })).rejects.toThrow(
    'git status failed',
  );
}, 30_000);

it('[WS360] a pack whose objects need more memory than 2 GiB is a failed clone, and leaves nothing', async () => {
  expect([workspaceLimits.cloneDataBytesMax, workspaceLimits.cloneCpuSeconds]).toEqual([2 * 1024 ** 3, 1_200]);
  const host = await openGitServer();
  const url = host.addRepository('team/bomb', { bomb: '0'.repeat(200_000_000) });
  host.allow('team/bomb', null, 'read');
  const bench = openRepositoriesBench([host.origin], { cloneDataBytesMax: 100 * 1024 ** 2 });
  bench.add('github_repository', url);
  expect(await bench.prepare()).toMatchObject([{ type: 'repository_clone_error', repository_url: url }]);
  const enough = openRepositoriesBench([host.origin]);
  enough.add('github_repository', url);
  expect(await enough.prepare()).toEqual([]);
}, 60_000);
