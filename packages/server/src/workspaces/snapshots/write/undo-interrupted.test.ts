import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openSnapshotBench, type SnapshotBench } from '../snapshots.suite.ts';

/** The process is killed before its change number `at` of the file system: that change and all later ones do not happen. */
const killed = vi.hoisted(() => {
  const state = { at: Number.POSITIVE_INFINITY, count: 0, isDead: false };
  const step = () => {
    state.isDead ||= state.count++ >= state.at;
    if (state.isDead) throw new Error('killed');
  };
  return { state, step };
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  const counted =
    <Args extends unknown[], Result>(change: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      killed.step();
      return await change(...args);
    };
  const open: typeof original.open = async (path, flags, mode) => {
    const isNew = typeof flags === 'number' ? (flags & 0o100) !== 0 : flags === 'w' || flags === 'wx';
    if (isNew) killed.step();
    const handle = await original.open(path, flags, mode);
    try {
      // The file is there, and has no content yet.
      if (isNew) killed.step();
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  };
  const { unlink, rename, symlink, mkdir, rmdir, rm, writeFile } = original;
  const changes = { unlink, rename, symlink, mkdir, rmdir, rm, writeFile };
  const names = Object.keys(changes) as (keyof typeof changes)[];
  return { ...original, open, ...Object.fromEntries(names.map((name) => [name, counted(changes[name] as never)])) };
});

it('[WS450] whenever a process is killed while it writes files, and again while it sets them back, they are as they were after the next start', async () => {
  const { bench, tree } = await openWritable();
  const before = listAll(bench.directory);
  let at = 0;
  for (; !(await isWritten(bench, tree, at)); at++) {
    // The next process is killed too.
    await killAt(at % 7, () => undo(bench));
    const problems = await undo(bench);
    expect(
      problems.filter((text) => !/: \d+ files were set back: repeat/.test(text)),
      `killed at ${at}`,
    ).toEqual([]);
    expect(listAll(bench.directory), `killed at ${at}`).toEqual(before);
  }
  expect(at).toBeGreaterThan(20);
  const after = listAll(bench.directory);
  expect(after).toMatchObject({ 'new/deep/b.txt': 'f b', kind: 'd', 'kind/inner.txt': 'f now a directory' });
  expect(Object.keys(after)).not.toContain('gone.txt');
  expect(await undo(bench)).toEqual([]);
  expect([listAll(bench.directory), readdirSync(join(bench.repository, '..'))]).toEqual([after, ['sesn_1']]);
}, 60_000);

it('[WS450] a file that changed after the process was killed is left and named, and a directory that is not allowed any more is not written', async () => {
  const { bench, tree } = await openWritable();
  const before = listAll(bench.directory);
  let at = 10;
  // Killed when two files are written.
  for (; listAll(bench.directory)['a.txt'] !== 'x agent'; at++) {
    await undo(bench);
    expect(await isWritten(bench, tree, at)).toBe(false);
  }
  writeFileSync(join(bench.directory, 'a.txt'), 'mine');
  const half = listAll(bench.directory);
  const [refusal] = await undo(bench, false);
  expect(refusal).toMatch(
    /killed while it wrote changes of sesn_1 to .* cannot be set back \(it was moved, or is not .*a\.txt/,
  );
  expect(listAll(bench.directory)).toEqual(half);
  const [problem] = await undo(bench);
  expect(problem).toMatch(/files were set back, except a\.txt, which changed since: check these files/);
  expect(listAll(bench.directory)).toEqual({ ...before, 'a.txt': 'x mine' });
  expect(await undo(bench)).toEqual([]);
});

/** A workspace whose changes are recorded, and not there any more. */
async function openWritable() {
  const bench = await openSnapshotBench({
    before: ({ put, link }) => {
      for (const name of ['a.txt', 'gone.txt', 'dir/only.txt', 'kind', 'same.txt']) put(name, `old ${name}`);
      link('link', 'same.txt');
    },
  });
  bench.put('a.txt', 'agent', 0o755);
  for (const name of ['gone.txt', 'dir', 'kind', 'link']) bench.remove(name);
  bench.put('dir', 'now a file');
  bench.put('kind/inner.txt', 'now a directory');
  bench.put('new/deep/b.txt', 'b');
  bench.link('link', 'a.txt');
  const tree = await bench.recordAll();
  await bench.recorder.replace({ from: tree, tree: bench.opened });
  return { bench, tree };
}

async function isWritten({ recorder, opened }: SnapshotBench & { opened: string }, tree: string, at: number) {
  return await killAt(at, () => recorder.replace({ from: opened, tree }));
}

/** Whether the work was done before the process was killed. */
async function killAt(at: number, work: () => Promise<unknown>): Promise<boolean> {
  Object.assign(killed.state, { at, count: 0, isDead: false });
  try {
    await work().catch((error: unknown) => {
      if (!killed.state.isDead) throw error;
    });
    return !killed.state.isDead;
  } finally {
    Object.assign(killed.state, { at: Number.POSITIVE_INFINITY, isDead: false });
  }
}

/** What the start of a server reports. */
async function undo({ snapshots }: SnapshotBench, isAllowed = true): Promise<readonly string[]> {
  const problems: string[] = [];
  const onProblem = (problem: unknown) => void problems.push(String(problem));
  await snapshots.undoInterrupted({ canWrite: async () => isAllowed, onProblem });
  return problems;
}

/** Everything that is in a directory, directories and drafts too. */
function listAll(directory: string, inside = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(directory, inside)).filter((one) => one !== '.git')) {
    const path = inside === '' ? name : `${inside}/${name}`;
    const stats = lstatSync(join(directory, path));
    if (stats.isDirectory()) Object.assign(found, { [path]: 'd' }, listAll(directory, path));
    else if (stats.isSymbolicLink()) found[path] = `l ${readlinkSync(join(directory, path))}`;
    else found[path] = `${(stats.mode & 0o100) === 0 ? 'f' : 'x'} ${readFileSync(join(directory, path), 'utf8')}`;
  }
  return found;
}
