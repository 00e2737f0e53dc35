import { expect, it } from 'vitest';
import { runOnTree } from './temporary-tree.ts';

const testFile = 'packages/protocol/src/sse/sse.test.ts';

it('[G2] a specification and tests that cite each other completely pass', async () => {
  const ending = await checkSpec(
    [
      '# Rules',
      '- **S1** one',
      '**S2** two',
      '  * **FL30** three',
      '- **S4.** four',
      '```',
      '- **X1** an example',
      '```',
      'about **X2** later',
    ],
    [
      "it('[S1] a', () => {});",
      'test("[S2, FL30] b", () => {});',
      "it.each([[1, ')'], [2, '(']])('[S1] %s', () => {});",
      'it.each<{ a: (b: string) => void }>([])(`[S1] ${1} x`, () => {});',
      "it.skipIf(process.platform === 'win32')(\n  '[S4] c',\n  () => {},\n);",
      "test.concurrent('[S2] d' + 1, async () => {});",
      "test.prop([fc.string()])('[S2] e', () => {});",
      "describe('no rule needed', () => {});",
      "const isMatch = /it\\(/.test(\"it('no title')\"); // it('nor here')",
      'const extended = test.extend({ a: 1 });',
    ],
  );
  expect(ending).toEqual({ code: 0, stdout: '', stderr: '' });
});

it.each([
  ['a rule without a test', ['- **S2** two'], [], 'SPEC.md:2 S2 is cited by no test'],
  [
    'a rule whose tests are all skipped',
    ['- **S2** two'],
    ["it.skip('[S2] a');"],
    'SPEC.md:2 S2 is cited only by tests',
  ],
  ['a rule that is only promised', ['- **S2** two'], ["it.todo('[S2] a');"], 'SPEC.md:2 S2 is cited only by tests'],
  ['an id that is defined twice', ['', '- **S1** again'], [], 'SPEC.md:3 defines S1 a second time'],
  ['a test without a rule', [], ["it('works', () => {});"], `${testFile}:2 cites no rule: begin "works"`],
  ['a rule that is not at the beginning', [], ["it('works [S1]', () => {});"], `${testFile}:2 cites no rule`],
  ['an unknown rule', [], ["it('[S1, S9] a', () => {});"], `${testFile}:2 cites S9, which no SPEC.md defines`],
  ['a data-driven test without a rule', [], ["it.each([1])('%s', () => {});"], `${testFile}:2 cites no rule`],
  [
    'a title that is not written there',
    [],
    ['it(title, () => {});'],
    `${testFile}:2 has a title that is not a literal`,
  ],
])('[G2] %s is reported', async (_name, rules, tests, problem) => {
  const ending = await checkSpec(['- **S1** one', ...rules], ["it('[S1] a', () => {});", ...tests]);
  expect(ending.code).toBe(1);
  expect(ending.stdout.split('\n')).toEqual([expect.stringContaining(problem), '']);
});

it('[G2] suites shared by implementations, and tests beside the packages, count as well', async () => {
  const ending = await runOnTree('check-spec.mjs', {
    'SPEC.md': '- **S1** one\n- **S2** two\n- **S3** three\n',
    'packages/server/src/store/store.suite.ts': "import { it } from 'vitest';\nit('[S1] a', () => {});",
    'test/pins/pins.test.ts': "it('[S2] a', () => {});",
    'bench/bench.test.ts': "it('[S3] a', () => {});",
  });
  expect(ending.stdout).toBe('');
});

it('[G2] each package can have a specification of its own, and ids are unique across all of them', async () => {
  const files = {
    'SPEC.md': '- **S1** one\n',
    'packages/server/SPEC.md': '# Server\n\n- **S2** two\n- **S3** three\n',
    'packages/web/SPEC.md': '- **S2** again\n',
    [testFile]: "it('[S1, S2] a', () => {});",
  };
  const { stdout } = await runOnTree('check-spec.mjs', files);
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringContaining('packages/web/SPEC.md:1 defines S2 a second time'),
    expect.stringContaining('packages/server/SPEC.md:4 S3 is cited by no test'),
  ]);
});

it('[G2] a missing specification is reported', async () => {
  const ending = await runOnTree('check-spec.mjs', { 'package.json': '{}' });
  expect(ending).toMatchObject({ code: 1, stdout: expect.stringContaining('SPEC.md does not exist') });
});

function checkSpec(rules: string[], tests: string[]) {
  return runOnTree('check-spec.mjs', { 'SPEC.md': rules.join('\n'), [testFile]: tests.join('\n') });
}
