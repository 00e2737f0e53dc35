import { expect, it } from 'vitest';
import { listFailures } from '../../scripts/support/list-failures.mjs';
import { createTree, runLines } from './temporary-tree.ts';

const PASSES = "it('is sound', () => {});";
/** Fails until the marker that it leaves exists: a test that was starved once. */
const FAILS_ONCE = (name: string) =>
  `import { existsSync, writeFileSync } from 'node:fs';
   it('is starved once', () => {
     const isSecond = existsSync('${name}.marker');
     writeFileSync('${name}.marker', '');
     if (!isSecond) throw new Error('starved');
   });
   it('passes', () => {});
   it.skip('is left out', () => {});`;

it('[G44] in CI a file that failed is run once more alone, and its second run is counted', async () => {
  const files = { 'a.test.js': PASSES, 'b.test.js': FAILS_ONCE('b') };
  const { stdout, stderr } = await runTests(files, { FLEETLOOM_TEST_RETRIES: '2' });
  expect(stderr).toContain('Once more, alone: b.test.js');
  expect(stdout.trimEnd().split('\n').slice(-2)).toEqual(['3 passed, 0 failed, 1 skipped', 'ended with 0']);
}, 60_000);

it('[G44] without the variable a failed file is not run again', async () => {
  const { stdout, stderr } = await runTests({ 'b.test.js': FAILS_ONCE('b') }, { FLEETLOOM_TEST_RETRIES: '' });
  expect(stderr).not.toContain('Once more');
  expect(stdout.trimEnd().split('\n').slice(-2)).toEqual(['1 passed, 1 failed, 1 skipped', 'ended with 1']);
}, 60_000);

it('[G44] six failed files are not run again, five are', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const files = (count: number) =>
    Object.fromEntries(names.slice(0, count).map((name) => [`${name}.test.js`, FAILS_ONCE(name)]));
  const six = await runTests(files(6), { FLEETLOOM_TEST_RETRIES: '2' });
  expect([six.stderr.includes('Once more'), six.stdout.trimEnd().split('\n').at(-1)]).toEqual([false, 'ended with 1']);
  const five = await runTests(files(5), { FLEETLOOM_TEST_RETRIES: '2' });
  expect(five.stdout.trimEnd().split('\n').at(-1)).toBe('ended with 0');
}, 60_000);

it('[G45] the failed tests are named at the end with their errors, and a file that cannot be loaded too', async () => {
  const files = { 'a.test.js': PASSES, 'b.test.js': FAILS_ONCE('b'), 'c.test.js': "import './missing.js';" };
  const { stdout } = await runTests(files, { FLEETLOOM_TEST_RETRIES: '' });
  const end = stdout.slice(stdout.indexOf('FAILED '));
  expect(end.match(/^FAILED .*$/gm)?.toSorted()).toEqual(['FAILED b.test.js › is starved once', 'FAILED c.test.js']);
  expect(end).toContain('  Error: starved');
  expect(end).toContain('./missing.js');
}, 60_000);

it('[G45] of 21 failed tests 20 are named, with 12 lines of the error each', () => {
  const failure = (at: number) => ({
    status: 'failed',
    fullName: `test ${at}`,
    failureMessages: [Array.from({ length: 13 }, (_, line) => `line ${line + 1}`).join('\n')],
  });
  const report = (count: number) => ({
    testResults: [
      { name: '/a.test.js', status: 'failed', assertionResults: Array.from({ length: count }, (_, at) => failure(at)) },
    ],
  });
  expect(listFailures(report(20), { root: '/' })).toHaveLength(20);
  const [first, ...rest] = listFailures(report(21), { root: '/' });
  expect(first?.split('\n')).toHaveLength(13);
  expect([rest.length, rest.at(-1)]).toEqual([20, 'and 1 more']);
});

async function runTests(files: Record<string, string>, env: Record<string, string>) {
  const root = await createTree({ 'package.json': '{"type":"module"}', ...files });
  return await runLines(
    `import { countTests } from '$scripts/support/count-tests.mjs';
     import { listFailures } from '$scripts/support/list-failures.mjs';
     import { runVitest } from '$scripts/support/run-vitest.mjs';
     const { code, report } = await runVitest(['--globals', '--no-isolate', '--maxWorkers=1'], { root: ${JSON.stringify(root)} });
     listFailures(report, { root: ${JSON.stringify(root)} }).forEach((failure) => console.log(failure));
     console.log(countTests(report));
     console.log('ended with ' + code);`,
    // What vitest sets for its workers is not for a vitest that one of them starts.
    { VITEST: '', VITEST_WORKER_ID: '', VITEST_POOL_ID: '', NODE_ENV: '', ...env },
  );
}
