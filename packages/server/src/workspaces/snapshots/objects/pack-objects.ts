import { readdir } from 'node:fs/promises';
import { snapshotLimits } from './limits.ts';
import type { SnapshotRepository } from './snapshot-repository.ts';

/**
 * Packs single objects once there are many of them: many small files take more room and are slower to find. Nothing is ever
 * dropped, so readers and writers can continue. One repository of the process is packed at a time.
 */
export async function packObjects(
  repository: SnapshotRepository,
  objectsMin: number = snapshotLimits.looseObjectsBeforePacking,
): Promise<void> {
  const turn = packing.then(async () => await packNow(repository, objectsMin));
  packing = turn.catch(() => {});
  await turn;
}

let packing: Promise<void> = Promise.resolve();

async function packNow(repository: SnapshotRepository, objectsMin: number): Promise<void> {
  const ids = await listLoose(repository);
  if (ids.length < objectsMin) return;
  const input = ids.map((id) => `${id}\n`).join('');
  const settings = ['pack.threads=1', 'pack.windowMemory=64m', 'core.bigFileThreshold=1m'];
  await repository.run(['pack-objects', '-q', repository.file('objects', 'pack', 'pack')], { input, settings });
  await repository.run(['prune-packed', '-q']);
}

async function listLoose(repository: SnapshotRepository): Promise<string[]> {
  const directories = (await readdir(repository.file('objects'))).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const ids: string[] = [];
  for (const directory of directories) {
    const names = await readdir(repository.file('objects', directory));
    ids.push(...names.filter((name) => /^[0-9a-f]+$/.test(name)).map((name) => `${directory}${name}`));
  }
  return ids;
}
