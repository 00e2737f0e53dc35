import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type { RuleMatch } from '@fleetloom/protocol/fleet';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkBudget } from '../base/bounded-pattern.ts';
import type { Json, JsonObject } from '../base/json/json.ts';
import { findRuleProblem } from './check-rule.ts';
import { ruleLimits } from './limits.ts';
import { type AskedCall, matchesRule, toShownTool } from './match-rule.ts';
import { resolveInside } from './resolve-inside.ts';
import type { Rule } from './rule.ts';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'rules-')));
  await mkdir(join(root, 'src/deep'), { recursive: true });
  await mkdir(join(root, 'other'));
  for (const name of ['src/a.ts', 'src/.env', 'other/secret']) await writeFile(join(root, name), name);
  await symlink('../other', join(root, 'src/out'));
  await symlink('../other/secret', join(root, 'src/link.ts'));
  await symlink('/etc', join(root, 'src/etc'));
  await link(join(root, 'other/secret'), join(root, 'src/hard.ts'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const base = { id: 'rule_1', agentName: null, createdBy: 'ann', createdAt: 0, expiresAt: null };

function toRule(tool: string, match: RuleMatch, more: Partial<Rule> = {}): Rule {
  return { ...base, scope: { type: 'session', session_id: 'sesn_1' }, tool, match, ...more };
}

function toCall(tool: string, input: Json, more: Partial<AskedCall> = {}): AskedCall {
  const toInside = async (path: string) => {
    const inside = await resolveInside(root, path, { names: ['/workspace'] });
    return inside === null ? [] : [inside];
  };
  const about = { sessionId: 'sesn_1', agentId: 'agent_1', agentName: 'tester', isForeign: false };
  return { ...about, tool, input, toInside, ...more };
}

const isMatch = (rule: Rule, call: AskedCall, now = 1) => matchesRule(rule, call, now, new WorkBudget());
const runs = (pattern: string, command: string, more: object = {}) =>
  isMatch(toRule('bash', { type: 'command', pattern }), toCall('bash', { command, ...more }));
const opens = (pattern: string, path: string) =>
  isMatch(toRule('write', { type: 'path', pattern }), toCall('write', { file_path: path, content: 'x' }));

it('[H180] a command rule matches one simple command and its plain words, and nothing that a shell reads more into', async () => {
  const allowed = [
    'npm test',
    'npm  test ',
    'npm test -- --silent',
    'npm tests',
    'npm test src/a.test.ts',
    'npm test -u=3',
  ];
  for (const command of allowed) expect([command, await runs('npm test*', command)]).toEqual([command, true]);
  const refused = [
    'npm test; rm -rf x',
    'npm test && x',
    'npm test & x',
    'npm test | x',
    'npm test > x',
    'npm test < x',
    'npm test $(x)',
    'npm test `x`',
    'npm test $X',
    'npm test ${X}',
    'npm test "x"',
    "npm test 'x'",
    'npm test \\x',
    'npm test *',
    'npm test ?',
    'npm test [a]',
    'npm test {a,b}',
    'npm test ~/x',
    'npm test !x',
    'npm test #x',
    'npm test\nrm x',
    'npm test\rx',
    'npm\ttest',
    'npm test\0',
    'npm test\u00a0x',
    'npm test\u2028rm',
    'npm test\u200b',
    'npm tеst',
    'ｎpm test',
    'NPM test',
    'A=b npm test',
    'npm test =x',
    'sudo npm test',
    ' ',
    '',
    'npm',
    '"npm test"',
    'npm test /etc/passwd',
    'npm test ../x',
    'npm test a/../../x',
    'npm test --prefix=/etc',
    'npm test -C/etc',
    'npm test --prefix ..',
    'npm test file:///etc',
    'npm test @/etc/passwd',
    'npm test http://x',
    'npm test (x)',
    'npm test # x',
    'npm test <<EOF\nrm x\nEOF',
    'npm test <<<x',
    'npm test \\\nx',
    'npm test\u2003x',
    'npm test\u001b[2K',
    'npm te\u0301st',
    'env A=b npm test',
    "$'npm' test",
    'exec npm test',
  ];
  for (const command of refused) expect([command, await runs('npm test*', command)]).toEqual([command, false]);
  expect(await runs('cat src/*', 'cat src/a.ts')).toBe(true);
  expect(await runs('cat src/*', 'cat src/a.ts /etc/passwd')).toBe(false);
  // A path elsewhere has to be written out.
  expect(await runs('cat /etc/hosts -n*', 'cat /etc/hosts -n')).toBe(true);
  // Fields that change what the call does.
  expect(await runs('npm test*', 'npm test', { timeout_ms: 5, description: 'x', restart: null })).toBe(true);
  expect(await runs('npm test*', 'npm test', { restart: true })).toBe(false);
  expect(await runs('npm test*', 'npm test', { dangerouslyDisableSandbox: true })).toBe(false);
  expect(await runs('npm test*', 'npm test', { cwd: root })).toBe(true);
  expect(await runs('npm test*', 'npm test', { cwd: '/etc' })).toBe(false);
  expect(await runs('npm test*', 'npm test', { cwd: join(root, 'src/out') })).toBe(false);
});

it('[H181] a path rule matches the resolved path from the workspace on; links, `..`, other roots and look-alikes never match', async () => {
  const allowed = ['src/a.ts', './src/a.ts', 'src/./a.ts', 'src/new.ts', join(root, 'src/a.ts'), '/workspace/src/a.ts'];
  for (const path of allowed) expect([path, await opens('src/*', path)]).toEqual([path, true]);
  const refused = [
    'src/../x',
    'src/../src/a.ts',
    'src/deep/../a.ts',
    'src/..',
    '../src/a.ts',
    'src/deep/b.ts',
    'src',
    'src/',
    'src//a.ts',
    '//src/a.ts',
    '/src/a.ts',
    '/etc/passwd',
    `${root}x/src/a.ts`,
    `${root}/../src/a.ts`,
    '',
    'src\\a.ts',
    'src/a\\..\\..\\x',
    'src/a\0.ts',
    'src/a\n.ts',
    'src∕a.ts',
    'src/\u2024\u2024/x',
    'src/ａ.ts',
    'SRC/a.ts',
    'Src/a.ts',
    'src/a.ts.',
    'src/a.ts ',
    ' src/a.ts',
    '~/src/a.ts',
    'src/~root',
    'src/%2e%2e/x/y',
    'src/link.ts',
    'src/out/secret',
    'src/etc',
    'src/hard.ts',
    'src/.env',
    'src/a.ts/x',
    'src/e\u0301.ts',
    'src/\u00e9.ts',
  ];
  for (const path of refused) expect([path, await opens('src/*', path)]).toEqual([path, false]);
  expect(await opens('src/**', 'src/deep/b.ts')).toBe(true);
  expect(await opens('src/**', 'src/.git/config')).toBe(false);
  expect(await opens('**/a.ts', 'src/a.ts')).toBe(true);
  expect(await opens('**', 'a.ts')).toBe(true);
  expect(await opens('src/out/*', 'src/out/secret')).toBe(false);
  expect(await opens('src/.env', 'src/.env')).toBe(true);
  const two = toCall('write', { file_path: 'src/a.ts', filePath: 'other/secret' });
  expect(await isMatch(toRule('write', { type: 'path', pattern: 'src/*' }), two)).toBe(false);
});

it('[H182] a rule holds for its scope, agent, tool and MCP server, until it expires, and never for plans or permissions', async () => {
  const match = { type: 'command', pattern: 'ls' } as const;
  const call = toCall('bash', { command: 'ls' });
  expect(await isMatch(toRule('bash', match), call)).toBe(true);
  expect(await isMatch(toRule('bash', match), { ...call, sessionId: 'sesn_2' })).toBe(false);
  const ofAgent = toRule('bash', match, { scope: { type: 'agent', agent_id: 'agent_1' }, agentName: 'tester' });
  expect(await isMatch(ofAgent, { ...call, sessionId: 'sesn_2' })).toBe(true);
  expect(await isMatch(ofAgent, { ...call, agentId: 'agent_2' })).toBe(false);
  expect(await isMatch(ofAgent, { ...call, agentName: 'other' })).toBe(false);
  expect(await isMatch(toRule('bash', match, { expiresAt: 2 }), call, 1)).toBe(true);
  expect(await isMatch(toRule('bash', match, { expiresAt: 2 }), call, 2)).toBe(false);
  // Other tools: the exact input in any order of its fields, or every input.
  const exact = toRule('git: push', { type: 'input', input: { a: 1, b: [2] } });
  const foreign = { isForeign: true };
  expect(await isMatch(exact, toCall('git: push', { b: [2], a: 1 }, foreign))).toBe(true);
  expect(await isMatch(exact, toCall('git: push', { b: [2], a: 1, c: null }, foreign))).toBe(false);
  expect(await isMatch(toRule('git: push', { type: 'any' }), toCall('git: push', { c: 1 }, foreign))).toBe(true);
  expect(await isMatch(toRule('bash', match), toCall('bash', { command: 'ls' }, foreign))).toBe(false);
  expect([toShownTool('bash', null), toShownTool('push', 'git')]).toEqual(['bash', 'git: push']);
  expect([toShownTool('git: push', null), toShownTool('x', 'git: push')]).toEqual([null, null]);
  for (const tool of ['ExitPlanMode', 'AskUserQuestion', 'request_permissions']) {
    expect(await isMatch(toRule(tool, { type: 'any' }), toCall(tool, {}))).toBe(false);
    expect(findRuleProblem(tool, { type: 'any' })).toContain('decided by a person');
  }
});

it('[H183] a pattern is refused unless it has the form that it is compared with; its length and that of a subject are limited', async () => {
  const command = (pattern: string) => findRuleProblem('bash', { type: 'command', pattern });
  const path = (pattern: string) => findRuleProblem('write', { type: 'path', pattern });
  for (const good of ['npm test*', 'ls', 'git log * -n', './run.sh *'])
    expect([good, command(good)]).toEqual([good, null]);
  for (const bad of ['*', 'n*m x', 'npm  test', ' npm', 'npm;x*', 'a=b x', 'npm "x"', 'npm $X', 'nе', 'x\ny', '']) {
    expect([bad, command(bad)]).not.toEqual([bad, null]);
  }
  for (const good of ['src/*', '**', 'a b/*.ts', '.env', '**/x']) expect([good, path(good)]).toEqual([good, null]);
  for (const bad of ['/src/*', '../x', 'src/..', 'src//a', 'src/', '~/x', 'a\\b', 'ä/*', './src']) {
    expect([bad, path(bad)]).not.toEqual([bad, null]);
  }
  expect(findRuleProblem('bash', { type: 'any' })).toContain('needs `command`');
  expect(findRuleProblem('git: push', { type: 'command', pattern: 'x' })).toContain('`input` or `any`');
  const { ruleSubjectCharsMax, ruleInputBytesMax } = ruleLimits;
  const long = (chars: number) => `npm test ${'x'.repeat(chars - 'npm test '.length)}`;
  expect(await runs('npm test*', long(ruleSubjectCharsMax))).toBe(true);
  expect(await runs('npm test*', long(ruleSubjectCharsMax + 1))).toBe(false);
  const ofBytes = (bytes: number) => findRuleProblem('x', { type: 'input', input: 'y'.repeat(bytes - 2) });
  expect([ofBytes(ruleInputBytesMax), ofBytes(ruleInputBytesMax + 1)]).toEqual([
    null,
    expect.stringContaining('bytes'),
  ]);
  // A pattern that takes too many steps is refused or does not match, and takes no longer for that.
  const slow = `a ${'*a'.repeat(240)}`;
  expect(await runs(slow, `a ${'a'.repeat(900)}b`)).toBe(false);
});

// What hostile inputs are made of.
const pieces = fc.constantFrom(
  'npm',
  'test',
  ' ',
  '  ',
  ';',
  '&',
  '|',
  '>',
  '<',
  '$',
  '(',
  ')',
  '`',
  '"',
  "'",
  '\\',
  '\n',
  '\r',
  '\t',
  '\0',
  '{',
  '}',
  '*',
  '?',
  '[',
  ']',
  '~',
  '#',
  '!',
  '=',
  'A=b',
  '..',
  '/',
  './',
  '/etc/passwd',
  '-',
  '--x',
  '\u00a0',
  '\u2028',
  '\u202e',
  '\u200b',
  'ｎ',
  'е',
  '\u00e9',
  '<<EOF\n',
  'env A=b ',
  '\u2003',
  'e\u0301',
  '\ud800',
  'src',
  'a.ts',
  'rm -rf x',
  'other/secret',
  'src/out',
  'src/link.ts',
  '.env',
  '%2e%2e',
);
const hostile = fc.oneof(
  fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.array(pieces, { maxLength: 5 }).map((parts) => `npm test${parts.join('')}`),
  fc.array(pieces, { maxLength: 5 }).map((parts) => `src/${parts.join('')}`),
);

it('[H184] property: a command that matches `npm test*` is split by bash into these very words; a path that matches `src/*` is a file directly in src', async () => {
  const commands: string[] = [];
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      if (await runs('npm test*', text)) commands.push(text);
      if (!(await opens('src/*', text))) return;
      const real = await realpath(join(root, text)).catch(() => join(root, posix.normalize(text)));
      expect(posix.dirname(real)).toBe(join(root, 'src'));
    }),
    { numRuns: 3_000 },
  );
  expect(commands.length).toBeGreaterThan(10);
  // The shell itself says which words it reads, in a directory that has files to expand to.
  const script = commands.map((command) => `set -- ${command}\nprintf '%s\\n' "$#:$*"`).join('\n');
  const shown = execFileSync('bash', ['-c', script], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const expected = commands.map((command) => command.split(' ').filter((word) => word !== ''));
  expect(shown).toEqual(expected.map((words) => `${words.length}:${words.join(' ')}`));
});

// How the engines name their tools and write their inputs.
const shells: readonly (readonly [string, (command: string) => JsonObject])[] = [
  ['bash', (command) => ({ command })],
  ['Bash', (command) => ({ command, description: 'x', timeout: 5 })],
  ['exec_command', (command) => ({ command, cwd: root })],
];
const editors: readonly (readonly [string, (path: string) => JsonObject])[] = [
  ['write', (path) => ({ file_path: path, content: 'x' })],
  ['Edit', (path) => ({ file_path: path, old_string: 'a', new_string: 'b' })],
  ['MultiEdit', (path) => ({ file_path: path, edits: [] })],
  ['NotebookEdit', (path) => ({ notebook_path: path, new_source: 'x' })],
  ['edit', (path) => ({ filePath: path, oldString: 'a', newString: 'b' })],
];

it('[Z521] property: with the tools of every engine a hostile command or path never matches, also with a further field, and a program names files by their whole paths', async () => {
  const further = fc.constantFrom<JsonObject>(
    { dangerouslyDisableSandbox: true },
    { run_in_background: true },
    { file_path: '/etc/passwd', filePath: 'x', notebook_path: 'y' },
    { path: '../x' },
    { sandbox_permissions: 'all' },
  );
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom(...shells), further, async (text, [tool, toInput], more) => {
      const rule = toRule(tool, { type: 'command', pattern: 'npm test*' });
      const isAllowed = await isMatch(rule, toCall(tool, toInput(text)));
      expect(isAllowed).toBe(await runs('npm test*', text));
      if (isAllowed) expect(text).toMatch(/^ *npm +test[A-Za-z0-9_./:=@%+, -]*$/);
      expect(await isMatch(rule, toCall(tool, { ...toInput(text), ...more }))).toBe(false);
    }),
    { numRuns: 1_000 },
  );
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom(...editors), further, async (text, [tool, toInput], more) => {
      const rule = toRule(tool, { type: 'path', pattern: 'src/*' });
      if (await isMatch(rule, toCall(tool, toInput(text))))
        expect(posix.dirname(join(root, posix.normalize(text)))).toBe(join(root, 'src'));
      expect(await isMatch(rule, toCall(tool, { ...toInput(text), ...more }))).toBe(false);
      // A program may be in another directory than its workspace.
      const ofProgram = toCall(tool, toInput(text), {
        toInside: async (path) => {
          const inside = await resolveInside(root, path, { isAbsoluteOnly: true });
          return inside === null ? [] : [inside];
        },
      });
      if (await isMatch(rule, ofProgram)) expect(text.startsWith(`${root}/src/`)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
