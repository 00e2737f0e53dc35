import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openSnapshotBench } from '../snapshots.suite.ts';

/** Names of files that the file system does not let go of, as with `chattr +i`. */
const immutable = vi.hoisted(() => new Set<string>());

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  const check = (path: string | Buffer | URL) => {
    const name = String(path).split('/').at(-1)!;
    if (immutable.has(name)) throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' });
  };
  const unlink: typeof original.unlink = async (path) => {
    check(path);
    await original.unlink(path);
  };
  const rename: typeof original.rename = async (from, to) => {
    check(to);
    await original.rename(from, to);
  };
  return { ...original, unlink, rename };
});

it('[WS428] a file that cannot be removed or written fails the restore with its name, and the files before it become what they were', async () => {
  const bench = await openSnapshotBench({
    before: ({ put }) => {
      for (const name of ['a.txt', 'keep.txt', 'z.txt']) put(name, 'old\n');
    },
  });
  bench.put('a.txt', 'new\n');
  bench.remove('keep.txt');
  bench.remove('z.txt');
  bench.put('m.txt', 'new\n');
  const tree = await bench.recordAll();
  await bench.recorder.replace({ from: tree, tree: bench.opened });
  const read = () => ['a.txt', 'keep.txt', 'm.txt', 'z.txt'].map((name) => readIf(join(bench.directory, name)));
  const old = ['old\n', 'old\n', null, 'old\n'];
  expect(read()).toEqual(old);
  for (const [name, action] of [
    ['keep.txt', 'removed'],
    ['m.txt', 'written'],
  ] as const) {
    immutable.add(name);
    const written = bench.recorder.replace({ from: bench.opened, tree });
    await expect(written).rejects.toThrow(`${name} cannot be ${action} (EPERM)`);
    await expect(written).rejects.toThrow('its files are as they were');
    expect(read()).toEqual(old);
    immutable.clear();
  }
});

it('[WS428] files that cannot be set back after a failure are named', async () => {
  const bench = await openSnapshotBench({
    before: ({ put }) => {
      for (const name of ['a.txt', 'keep.txt']) put(name, 'old\n');
    },
  });
  for (const name of ['a.txt', 'keep.txt']) bench.remove(name);
  bench.put('m.txt', 'new\n');
  const tree = await bench.recordAll();
  await bench.recorder.replace({ from: tree, tree: bench.opened });
  immutable.add('m.txt');
  const set = vi.spyOn(immutable, 'has').mockImplementation((name) => {
    // Once the write has failed, the removed file cannot be made again either.
    return name === 'm.txt' || name === 'keep.txt' ? set.mock.calls.some(([one]) => one === 'm.txt') : false;
  });
  await expect(bench.recorder.replace({ from: bench.opened, tree })).rejects.toThrow(
    /1 files are changed and could not be set back: keep\.txt/,
  );
  set.mockRestore();
  immutable.clear();
  expect(existsSync(join(bench.directory, 'keep.txt'))).toBe(false);
  expect(readIf(join(bench.directory, 'a.txt'))).toBe('old\n');
});

function readIf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
