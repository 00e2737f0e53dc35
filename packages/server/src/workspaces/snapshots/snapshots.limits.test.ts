import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findCandidates } from './find-candidates.ts';
import { snapshotLimits } from './objects/limits.ts';
import { packObjects } from './objects/pack-objects.ts';
import { recordFiles } from './record-files.ts';
import { openSnapshotBench, readOracle, readSnapshot, type SnapshotBench } from './snapshots.suite.ts';

it('[WS68] objects are packed once there are 2,000 of them, and all trees stay readable', async () => {
  const bench = await openSnapshotBench();
  const trees: string[] = [];
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 20; count++) bench.put(`d/f${count}.txt`, `${round} ${count}\n`.repeat(20));
    trees.push(await bench.recordAll());
  }
  const loose = countLoose(bench);
  const repository = await bench.snapshots.repositoryOf(bench.sessionId);
  await packObjects(repository, loose + 1);
  expect(countLoose(bench)).toBe(loose);
  await packObjects(repository, loose);
  expect(countLoose(bench)).toBe(0);
  for (const [round, tree] of trees.entries()) {
    const files = await readSnapshot(bench.snapshots, bench.sessionId, tree);
    expect(Buffer.from(files['d/f7.txt']!.slice(7), 'hex').toString()).toBe(`${round} 7\n`.repeat(20));
  }
  bench.put('after.txt', 'after\n');
  expect(await readSnapshot(bench.snapshots, bench.sessionId, await bench.recordAll())).toEqual(
    readOracle(bench.directory),
  );
  expect(snapshotLimits.looseObjectsBeforePacking).toBe(2_000);
});

function countLoose({ repository }: SnapshotBench): number {
  const directories = readdirSync(join(repository, 'objects')).filter((name) => name.length === 2);
  return directories.flatMap((name) => readdirSync(join(repository, 'objects', name))).length;
}

it('[WS69] a frame names 200 files and 50 that are not recorded, with exact counts', async () => {
  const bench = await openSnapshotBench();
  for (let count = 0; count < 201; count++) bench.put(`f${1_000 + count}`, 'x\n');
  for (let count = 0; count < 51; count++) makeRepository(bench, `n${count}`);
  const change = await bench.call('toolu_1');
  expect(change?.payload).toMatchObject({ files_count: 201, lines_added: 201, not_recorded_count: 51 });
  expect([change?.payload.files.length, change?.payload.not_recorded?.length]).toEqual([200, 50]);
});

it('[WS69] files that do not fit into one record are named, and the next record has them', async () => {
  const bench = await openSnapshotBench();
  bench.put('a', 'x'.repeat(10));
  bench.put('b', 'x'.repeat(11));
  const repository = await bench.snapshots.repositoryOf(bench.sessionId);
  const known = new Map(['a', 'b'].map((path) => [path, undefined]));
  const limits = { fileBytesMax: 100, recordBytesMax: 20 };
  const { changes, notRecorded } = await recordFiles(repository, bench.directory, known, limits);
  expect([...changes.keys()]).toEqual(['a']);
  expect(notRecorded).toEqual([{ path: 'b', reason: 'too_much' }]);
  const whole = await recordFiles(repository, bench.directory, known, { ...limits, recordBytesMax: 21 });
  expect([...whole.changes.keys()]).toEqual(['a', 'b']);
  expect(snapshotLimits.recordBytesMax).toBe(2 ** 30);
});

it('[WS69] more paths than the limit fail the record, and more nested repositories than the limit are named', async () => {
  const bench = await openSnapshotBench();
  for (const name of ['one', 'two']) {
    makeRepository(bench, name);
    bench.put(`${name}/file`, 'x\n');
  }
  const repository = await bench.snapshots.repositoryOf(bench.sessionId);
  const place = {
    repository,
    directory: bench.directory,
    indexFile: repository.file('no-index'),
    excludeFile: '/dev/null',
  };
  const limits = { recordPathsMax: 2, nestedRepositoriesMax: 2 };
  expect((await findCandidates(place, limits)).untracked).toEqual(['one/file', 'two/file']);
  await expect(findCandidates(place, { ...limits, recordPathsMax: 1 })).rejects.toThrow(/more than 1 files/);
  const { notRecorded } = await findCandidates(place, { ...limits, nestedRepositoriesMax: 1 });
  expect(notRecorded).toContainEqual({ path: 'two/', reason: 'nested_repository' });
  expect([snapshotLimits.recordPathsMax, snapshotLimits.nestedRepositoriesMax]).toEqual([500_000, 200]);
});

it('[WS69] a `.gitignore` of more than 1 MB has no effect', async () => {
  const rules = (bytes: number) => `ignored\n${'#'.repeat(bytes - 8)}`;
  for (const [bytes, isRecorded] of [
    [snapshotLimits.ignoreFileBytesMax, false],
    [snapshotLimits.ignoreFileBytesMax + 1, true],
  ] as const) {
    const bench = await openSnapshotBench({ before: ({ put }) => put('.gitignore', rules(bytes)) });
    bench.put('ignored', 'x\n');
    expect((await bench.call('toolu_1')) !== undefined).toBe(isRecorded);
  }
  expect(snapshotLimits.ignoreFileBytesMax).toBe(1024 * 1024);
});

/** The least that git takes for a repository. */
function makeRepository({ directory }: SnapshotBench, name: string): void {
  for (const inside of ['objects', 'refs']) mkdirSync(join(directory, name, '.git', inside), { recursive: true });
  writeFileSync(join(directory, name, '.git', 'HEAD'), 'ref: refs/heads/main\n');
}

it('[WS609] the operator sets the size of the largest file that is recorded, and the files of the user are read with it too', async () => {
  const bench = await openSnapshotBench({ fileBytesMax: 100 });
  bench.put('edge', 'x'.repeat(100));
  bench.put('large', 'x'.repeat(101));
  const change = await bench.call('toolu_1');
  expect(change?.payload).toMatchObject({
    files: [{ path: 'edge' }],
    not_recorded: [{ path: 'large', reason: 'too_large' }],
  });
  const found = await bench.snapshots.recordDirectory(bench.sessionId, bench.directory);
  expect(found).toBe(change!.payload.tree);
});
