import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { LongFilesFirst, longFiles } from '../support/long-files-first.ts';
import { repositoryRoot } from '../support/root.ts';

it('[J425] the long test files exist, and run first within their project also on a machine that knows no durations', async () => {
  expect(longFiles.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
  const cache = { getFileTestResults: () => undefined, getFileStats: () => undefined };
  // The cast: vitest has no other way to make one, and the sequencer reads only this of it.
  const vitest = { config: { root: repositoryRoot }, cache } as unknown as Vitest;
  const specify = (name: string, path: string) =>
    ({ project: { name, config: { sequence: { groupOrder: 0 } } }, moduleId: join(repositoryRoot, path) }) as never;
  const [first, second] = longFiles as [string, string];
  const files = [specify('b', second), specify('a', 'x.test.ts'), specify('a', second), specify('a', first)];
  const sorted: TestSpecification[] = await new LongFilesFirst(vitest).sort(files);
  expect(sorted.map(({ project, moduleId }) => [project.name, moduleId.slice(repositoryRoot.length + 1)])).toEqual([
    ['a', first],
    ['a', second],
    ['a', 'x.test.ts'],
    ['b', second],
  ]);
});
