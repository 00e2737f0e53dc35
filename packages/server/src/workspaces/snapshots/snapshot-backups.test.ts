import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { createGit } from '../git/run-git.ts';
import { snapshotLimits } from './objects/limits.ts';
import { SnapshotRepository } from './objects/snapshot-repository.ts';
import { createSnapshotBackups, SNAPSHOT_BACKUP } from './snapshot-backups.ts';

it('[WS344] a backup stores what is new, is stored as a whole after 50 packs, and gives back all files; a failure is reported', async () => {
  expect([snapshotLimits.backupPacksMax, snapshotLimits.backupBytesMax]).toEqual([50, 512 * 1024 * 1024]);
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-backups-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const git = createGit('git');
  const store = createMemoryStore();
  const problems: unknown[] = [];
  const backups = createSnapshotBackups({ store, onProblem: (problem) => problems.push(problem) });
  const repository = await SnapshotRepository.create(git, join(directory, 'own'), { format: 'sha1', alternates: [] });
  let tree = repository.emptyTree;
  const change = async (path: string, text: string) => {
    const [object] = await repository.write([{ type: 'blob', content: Buffer.from(text) }]);
    tree = await repository.change(tree, new Map([[path, { mode: '100644', object: object! }]]));
    await backups.save(repository, 'sesn_1', tree);
  };
  const read = async () => (await store.documents.get(SNAPSHOT_BACKUP, 'sesn_1'))?.data;
  for (let at = 0; at < 50; at++) await change(`deep/${at % 7}.txt`, `${at}\n`);
  expect(await read()).toEqual({ tree, first: 0, next: 50 });
  await backups.save(repository, 'sesn_1', tree);
  expect(await read()).toMatchObject({ next: 50 });
  const restore = async (name: string) => {
    await backups.restore(git, 'sesn_1', join(directory, name));
    const restored = (await SnapshotRepository.open(git, join(directory, name)))!;
    return (await restored.run(['ls-tree', '-r', tree])).stdout.toString();
  };
  const files = (await repository.run(['ls-tree', '-r', tree])).stdout.toString();
  expect(await restore('fifty')).toBe(files);
  await change('last.txt', 'last\n');
  expect(await read()).toEqual({ tree, first: 50, next: 51 });
  await expect(async () => {
    for await (const _ of store.blobs.read('snapshot_sesn_1_49')) continue;
  }).rejects.toThrow();
  expect(await restore('whole')).toContain('last.txt');
  expect(problems).toEqual([]);
  await backups.save(repository, 'sesn_1', '0'.repeat(40));
  expect([problems.length, await read()]).toEqual([1, { tree, first: 50, next: 51 }]);
  await backups.remove('sesn_1');
  expect(await read()).toBe(undefined);
});
