import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { workspaceLimits } from '../limits.ts';
import { findNestedGit } from './find-nested-git.ts';

it('[WS405] nested git directories are searched up to a number of entries, and nothing in them is counted', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-nested-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'a/.git/hooks'), { recursive: true });
  await mkdir(join(root, 'bare/refs'), { recursive: true });
  await mkdir(join(root, 'bare/objects'));
  await writeFile(join(root, 'bare/HEAD'), '');
  // a, a/.git, bare, and the three entries of bare
  const found = [
    { inside: 'a/.git', type: 'directory' },
    { inside: 'bare', type: 'directory' },
  ];
  expect(await findNestedGit(root, 6)).toEqual(found);
  await expect(findNestedGit(root, 5)).rejects.toThrow(/has more than 5 files and directories/);
  expect(await findNestedGit(root)).toEqual(found);
  expect(workspaceLimits.nestedSearchEntriesMax).toBe(500_000);
});
