import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { closing, Directory } from '../../tools/workspace/directory.ts';
import { copyTree, createCopying } from './copy-tree.ts';

// Few file systems of test machines have copy-on-write clones: what the system is asked for is what counts.
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  return { ...real, copyFile: vi.fn(real.copyFile) };
});

it.runIf(process.platform === 'linux')(
  '[WS613] each file of a copy is asked for as a copy-on-write clone, and copied where there is none',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'fleetloom-copy-'));
    onTestFinished(() => rm(root, { recursive: true }));
    const [from, to] = [join(root, 'from'), join(root, 'to')];
    await mkdir(join(from, 'deep'), { recursive: true });
    await mkdir(to);
    await writeFile(join(from, 'a.txt'), 'a\n');
    await writeFile(join(from, 'deep/b.txt'), 'b\n');
    const copying = createCopying(() => false);
    await closing(await Directory.openRoot(from), async (source) => {
      await closing(await Directory.openRoot(to), (target) => copyTree(source, target, copying));
    });
    expect(await readFile(join(to, 'deep/b.txt'), 'utf8')).toBe('b\n');
    expect(vi.mocked(copyFile).mock.calls.map(([, , mode]) => mode)).toEqual(Array(2).fill(constants.COPYFILE_FICLONE));
  },
);
