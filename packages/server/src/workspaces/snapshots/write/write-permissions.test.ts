import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSnapshotBench } from '../snapshots.suite.ts';

it('[WS704] a file that is replaced keeps its permissions, except that it becomes executable or not', async () => {
  const bench = await openSnapshotBench({
    before: ({ put }) => {
      for (const name of ['secret', 'script', 'shared']) put(name, 'old\n');
    },
  });
  const permissions = (name: string) => (statSync(join(bench.directory, name)).mode & 0o777).toString(8);
  for (const name of ['secret', 'script', 'shared']) bench.put(name, 'new\n', name === 'script' ? 0o755 : 0o644);
  bench.put('added', 'new\n');
  const tree = await bench.recordAll();
  await bench.recorder.replace({ from: tree, tree: bench.opened });
  for (const [name, mode] of [
    ['secret', 0o600],
    ['script', 0o640],
    ['shared', 0o664],
  ] as const)
    chmodSync(join(bench.directory, name), mode);
  const umask = process.umask(0o022);
  try {
    await bench.recorder.replace({ from: bench.opened, tree });
    expect(['secret', 'script', 'shared', 'added'].map(permissions)).toEqual(['600', '750', '664', '644']);
    await bench.recorder.replace({ from: tree, tree: bench.opened });
    expect(['secret', 'script', 'shared'].map(permissions)).toEqual(['600', '640', '664']);
  } finally {
    process.umask(umask);
  }
});
