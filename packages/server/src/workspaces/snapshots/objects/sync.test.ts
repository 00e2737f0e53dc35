import * as files from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createGit } from '../../git/run-git.ts';
import { snapshotLimits } from './limits.ts';
import { SnapshotRepository } from './snapshot-repository.ts';

const synced: string[] = [];
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof files>();
  const open: typeof real.open = async (path, ...rest) => {
    const handle = await real.open(path, ...rest);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      synced.push(String(path));
      await sync();
    };
    return handle;
  };
  return { ...real, open };
});

it('[WS361] single objects, packs and their directories are flushed once by a sync, and not again by the next one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-sync-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'repository');
  const repository = await SnapshotRepository.create(createGit('git'), path, { format: 'sha1', alternates: [] });
  const [id] = await repository.write([{ type: 'blob', content: Buffer.from('one\n') }]);
  await repository.sync();
  const object = repository.file('objects', id!.slice(0, 2), id!.slice(2));
  expect([synced[0], ...synced.slice(1).sort()]).toEqual([object, repository.file('objects'), dirname(object)]);
  await repository.sync();
  expect(synced).toHaveLength(3);
  const many = Array.from({ length: snapshotLimits.looseObjectsMax + 1 }, (_, at) => Buffer.from(`${at}\n`));
  await repository.write(many.map((content) => ({ type: 'blob', content })));
  await repository.sync();
  const pack = repository.file('objects', 'pack');
  const flushed = synced.slice(3).map((each) => each.replace(/pack-[0-9a-f]+/, 'pack-…'));
  // The files before their directories.
  expect(flushed.slice(0, 2).sort()).toEqual([join(pack, 'pack-….idx'), join(pack, 'pack-….pack')]);
  expect(flushed.slice(2).sort()).toEqual([repository.file('objects'), pack]);
});
