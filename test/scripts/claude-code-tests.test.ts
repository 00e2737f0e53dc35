import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../support/root.ts';
import { runLines } from './temporary-tree.ts';

it('[J424] npm test runs the scenarios with the real program, a kill and a restart among them, and CI runs the other files too', async () => {
  const { stdout } = await runLines(
    `import { listLongClaudeCodeTests } from '$scripts/support/claude-code-tests.mjs';
     console.log(JSON.stringify(listLongClaudeCodeTests(${JSON.stringify(repositoryRoot)})));`,
  );
  const long = JSON.parse(stdout) as readonly string[];
  const names = readdirSync(join(repositoryRoot, 'test', 'claude-code'), { recursive: true, encoding: 'utf8' });
  const all = names.filter((name) => name.endsWith('.test.ts')).toSorted();
  const run = all.filter((name) => !long.includes(`test/claude-code/${name}`));
  expect(run.filter((name) => !name.startsWith('scenarios/'))).toEqual(['imported-log.test.ts', 'recordings.test.ts']);
  expect(run.length + long.length).toBe(all.length);
  const kinds = ['answers', 'crashes', 'restarts'].map((kind) => `scenarios/${kind}.test.ts`);
  expect(run).toEqual(expect.arrayContaining(kinds));
  const ci = readFileSync(join(repositoryRoot, '.ci', 'run'), 'utf8').split('\n');
  expect(ci).toEqual(expect.arrayContaining(['npm test', 'npm run test:claude-code']));
});
