import { expect, it } from 'vitest';
import { diffTrees } from './diff-trees.ts';
import { listTree } from './list-tree.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';

const COUNT = 40_000;
const names = Array.from({ length: COUNT }, (_, n) => `directory/file ${n}`);
const [none, id] = ['0'.repeat(40), 'a'.repeat(40)];

/** A repository of which git prints this. */
function repositoryOf(text: string): SnapshotRepository {
  const run = async () => ({ code: 0, stdout: Buffer.from(text) });
  // The cast: only `run` is called.
  return { run } as unknown as SnapshotRepository;
}

/** How often timers ran in the meantime. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  await work();
  clearInterval(ticking);
  return turns;
}

it('[R504] the differences and the files of a workspace with tens of thousands of files are read while other work continues', async () => {
  const raw = names.map((name) => `:000000 100644 ${none} ${id} A\0${name}\0`).join('');
  const counts = names.map((name, n) => `${n % 7 === 0 ? '-\t-' : '3\t1'}\t${name}\0`).join('');
  const diff = await diffTrees(repositoryOf(raw + counts), none, id);
  expect([diff.length, diff[1], diff[7]]).toMatchObject([
    COUNT,
    { path: 'directory/file 1', status: 'added', added: 3, removed: 1, before: null, after: { mode: '100644' } },
    { path: 'directory/file 7', added: null, removed: null },
  ]);
  const some = await diffTrees(repositoryOf(raw + counts), none, id, { paths: ['directory/file 5', 'directory/fil'] });
  expect(some.map(({ path }) => path)).toEqual(['directory/file 5']);
  expect(await countTurns(() => diffTrees(repositoryOf(raw + counts), none, id))).toBeGreaterThan(2);

  const tree = names.map((name) => `100644 blob ${id}       3\t${name}\0`).join('');
  const list = async () => {
    for await (const { bytes } of listTree(repositoryOf(tree), id)) expect(bytes).toBe(3);
  };
  expect(await countTurns(list)).toBeGreaterThan(2);
});
