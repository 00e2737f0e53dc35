import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { RandomText } from '../../../../../bench/random-text.ts';
import { isLong, randomText, timeout } from '../../../../../test/support/seed.ts';
import type { WorkspaceRecorder } from './recorder.ts';
import { type FileMap, openSnapshotBench, readOracle, readSnapshot } from './snapshots.suite.ts';

const ROUNDS = isLong ? 200 : 1;
const STEPS = isLong ? 80 : 30;

it(
  '[WS80] whatever happens to the files, with restarts, restores and forks in between: the tree of each record equals a copy of the directory, and stays so',
  async () => {
    const random = randomText();
    for (let round = 0; round < ROUNDS; round++) await play(random);
  },
  timeout * 4,
);

async function play(random: RandomText): Promise<void> {
  const bench = await openSnapshotBench({
    isRepository: random.below(3) > 0,
    before: ({ directory }) => {
      for (let count = random.below(30); count > 0; count--) change(random, directory);
    },
  });
  const { snapshots, sessionId, directory, opened } = bench;
  let recorder: WorkspaceRecorder = bench.recorder;
  const history: { readonly tree: string; readonly files: FileMap }[] = [
    { tree: opened, files: readOracle(directory) },
  ];
  for (let step = 0; step < STEPS; step++) {
    const last = history.at(-1)!;
    const act = random.below(10);
    const paths: string[] = [];
    if (act === 0) {
      // Killed: what was recorded since the last frame is not in the log.
      change(random, directory);
      await recorder.record({ type: 'turn', threadId: 'thread' });
      recorder = bench.reopen(last.tree);
    } else if (act === 1) {
      await recorder.write({ from: last.tree, tree: random.pick(history).tree });
    } else {
      for (let count = 1 + random.below(4); count > 0; count--) paths.push(...change(random, directory));
    }
    // The tools that name their file write through links, and never make one.
    const isNamed = paths.length > 0 && act > 6 && !paths.some((path) => isLink(join(directory, path)));
    const toolUseId = `toolu_${step}`;
    recorder.begin({ threadId: 'thread', toolUseId, paths: isNamed ? paths : null });
    const found = await recorder.record({ type: 'tool', threadId: 'thread', toolUseId });
    const tree = found?.payload.tree ?? last.tree;
    expect(found?.payload.parent ?? last.tree).toBe(last.tree);
    expect(await readSnapshot(snapshots, sessionId, tree)).toEqual(readOracle(directory));
    history.push({ tree, files: readOracle(directory) });
  }
  // Later records have changed nothing of the earlier ones, and a copy has them all.
  await snapshots.copyTo(sessionId, 'sesn_2', history.at(-1)!.tree);
  await snapshots.remove(sessionId);
  for (const { tree, files } of history) expect(await readSnapshot(snapshots, 'sesn_2', tree)).toEqual(files);
}

/** Changes something below a directory. Gives the paths that it has written or removed. */
function change(random: RandomText, directory: string): string[] {
  const path = random.pick(PATHS);
  const full = join(directory, path);
  // A file or a link may be in the way.
  for (const [at] of path.split('/').slice(1).entries()) {
    const parent = join(directory, ...path.split('/').slice(0, at + 1));
    if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() === false) return remove(parent, directory);
  }
  mkdirSync(dirname(full), { recursive: true });
  const stats = lstatSync(full, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return random.below(2) === 0 ? remove(full, directory) : [];
  switch (random.below(8)) {
    case 0:
      return remove(full, directory);
    case 1: {
      rmSync(full, { force: true });
      symlinkSync(random.pick(['a', '../b', '/etc', 'no such file']), full);
      return [path];
    }
    case 2: {
      if (stats?.isFile()) chmodSync(full, random.pick([0o644, 0o755, 0o600]));
      return stats?.isFile() ? [path] : [];
    }
    case 3: {
      const to = join(directory, random.pick(PATHS.slice(0, 3)));
      if (stats === undefined || lstatSync(to, { throwIfNoEntry: false })?.isDirectory()) return [];
      renameSync(full, to);
      return [path, to.slice(directory.length + 1)];
    }
    case 4: {
      // The same size and the same time: only the change time differs.
      if (!stats?.isFile()) return [];
      writeFileSync(full, Buffer.alloc(stats.size, random.below(256)));
      utimesSync(full, stats.atime, stats.mtime);
      return [path];
    }
    default: {
      if (stats?.isSymbolicLink()) rmSync(full);
      writeFileSync(full, random.prose(random.below(200), 0.2));
      return [path];
    }
  }
}

function isLink(path: string): boolean {
  // A file may be in the place of its directory by now.
  return (
    existsSync(dirname(path)) &&
    statSync(dirname(path)).isDirectory() &&
    (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false)
  );
}

function remove(path: string, directory: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  const inside = stats.isDirectory() ? listFiles(path) : [path];
  rmSync(path, { recursive: true });
  return inside.map((one) => one.slice(directory.length + 1));
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? listFiles(join(directory, entry.name)) : [join(directory, entry.name)],
  );
}

const PATHS = [
  'a',
  'b',
  'c',
  'a/x',
  'a/y',
  'b/x/deep/er',
  'd/new\nline',
  'd/"quote"\t',
  'e/\u00fc',
  'f g/h',
  'f.g',
  'f',
  'i\\x41',
  '.hidden/k',
];
