import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../test/support/http-server.ts';
import { script } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { createUserRepository, type UserRepository } from '../../test-support/user-repository.ts';
import { limits } from '../base/limits.ts';
import { toSessionPath } from './session-paths.ts';

const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const TASK = script([write('b.txt', 'b\n'), write('src/new.js', 'new\n')], [{ say: 'done' }]);

async function runOn(user: UserRepository, task = TASK, ...more: readonly string[]): Promise<string> {
  const args = ['run', task, '--model', 'scripted/echo', ...more];
  const { stderr } = await call(args, { env: user.env, cwd: user.path });
  return /fleetloom diff (sesn_\w+)/.exec(stderr)![1]!;
}

it('[Y162] without a session, diff, show, apply, restore and discard take the last run of the repository and print which', async () => {
  const user = createUserRepository();
  const other = createUserRepository();
  const on = (...args: readonly string[]) => call(args, { env: user.env, cwd: join(user.path, 'src') });
  expect(await on('diff')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`No run of ${user.path} is kept.\n  Pass a session id; "fleetloom runs" lists`),
  });
  await runOn(user, script([write('old.txt', 'old\n')], [{ say: 'done' }]));
  const id = await runOn(user, `Add a file. ${TASK}`);
  // A later run on another repository does not count.
  await call(['run', TASK, '--model', 'scripted/echo'], { env: user.env, cwd: other.path });
  const which = expect.stringMatching(
    new RegExp(`^fleetloom: ${id}, the last run here \\(\\d+ s ago\\): Add a file\\.`),
  );
  const stat = await on('diff', '--stat');
  expect(stat).toMatchObject({ code: 0, stderr: which, stdout: expect.stringContaining(' A b.txt ') });
  // What is not a session is a path.
  expect(await on('diff', '--stat', 'new.js')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('src/new.js'),
  });
  expect(await on('show', 'new.js')).toMatchObject({ code: 0, stderr: which, stdout: 'new\n' });
  expect(await on('show', ':b.txt')).toMatchObject({ code: 0, stdout: 'b\n' });
  expect(await on('apply', 'new.js')).toMatchObject({ code: 0, stderr: which });
  expect(user.read('src/new.js')).toBe('new\n');
  expect(await on('restore', '--at', 'start')).toMatchObject({ code: 0, stderr: which });
  // A wrong id is not taken for a path.
  expect(await on('discard', 'abcdefgh', '--yes')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('"abcdefgh" is not a session.'),
  });
  expect(await on('discard', '--yes')).toMatchObject({ code: 0, stderr: which, stdout: `Discarded ${id}.\n` });
  expect((await on('diff', '--stat')).stdout).toContain(' A old.txt ');
}, 120_000);

it('[Y162] with a server, the last run is its newest session on the repository', async () => {
  const user = createUserRepository();
  const server = await startServer({
    dataDirectory: join(dirname(user.path), 'server'),
    allowedDirectories: [user.path],
  });
  onTestFinished(() => server.close());
  const env = { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey! };
  const on = (...args: readonly string[]) => call(args, { env, cwd: user.path });
  expect(await on('diff')).toMatchObject({ code: 4 });
  const { stderr } = await on('run', TASK, '--model', 'scripted/echo');
  const id = /fleetloom diff (sesn_\w+)/.exec(stderr)![1]!;
  await on('run', 'hello', '--model', 'scripted/echo', '--no-workspace');
  const found = await on('diff', '--stat');
  expect(found).toMatchObject({ code: 0, stderr: expect.stringContaining(id) });
  expect(found.stdout).toContain(' 2 files changed');
}, 60_000);

it('[Y162] the last run is searched among the 500 newest sessions of a server', async () => {
  const user = createUserRepository();
  expect(limits.sessionsSearchedMax).toBe(500);
  for (const [at, isFound] of [
    [499, true],
    [500, false],
  ] as const) {
    const server = await serve((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      if (pathname !== '/v1/sessions') return void response.writeHead(404).end('{}');
      const page = Number(searchParams.get('page') ?? '0');
      const data = Array.from({ length: 100 }, (_, index) => ({
        id: `sesn_${page * 100 + index}`,
        title: null,
        created_at: '2026-01-01T00:00:00Z',
        resources: page * 100 + index === at ? [{ type: 'directory', path: user.path }] : [],
      }));
      response.end(JSON.stringify({ data, next_page: String(page + 1) }));
    });
    onTestFinished(() => server.close());
    const { stderr } = await call(['diff', '--url', server.origin], { cwd: user.path });
    expect([at, stderr.includes(`sesn_${at}, the last run here`), stderr.includes('is kept.')]).toEqual([
      at,
      isFound,
      !isFound,
    ]);
  }
});

it('[Y163] runs lists the runs that are kept, the newest first, with what they changed', async () => {
  const user = createUserRepository();
  const other = createUserRepository();
  const on = (...args: readonly string[]) => call(args, { env: user.env, cwd: user.path });
  expect(await on('runs')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No runs are kept.') });
  const long = 'Write down what is where, '.repeat(10);
  const first = await runOn(user, `${long}\nand more. ${TASK}`);
  const { stderr } = await call(['run', TASK, '--model', 'scripted/echo', '--in-place'], {
    env: user.env,
    cwd: other.path,
  });
  const second = /sesn_\w+/.exec(stderr)![0];
  const lines = (await on('runs')).stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ['SESSION', 'AGE', 'CHANGES', 'DIRECTORY'],
    [second, expect.stringMatching(/ m?s$/), '2 files +2 -0', `${other.path} (in place)`],
    [first, expect.stringMatching(/ m?s$/), '2 files +2 -0', user.path],
  ]);
  const here = (await on('runs', '--here', '--json')).stdout.trimEnd().split('\n');
  expect(here.map((line) => JSON.parse(line) as object)).toEqual([
    {
      session_id: first,
      state: 'ended',
      started_at: expect.stringMatching(/^\d{4}-/),
      directory: user.path,
      in_place: false,
      task: long.slice(0, limits.keptTaskCharsMax),
      changes: { files_count: 2, lines_added: 2, lines_removed: 0 },
    },
  ]);
  expect(limits.keptTaskCharsMax).toBe(200);
  await on('discard', first, '--yes');
  expect((await on('runs', '--here')).stdout).toBe('');
}, 60_000);

it('[Y164] diff --steps prints the recorded steps with the cursors that show and restore take', async () => {
  const user = createUserRepository();
  const turns = [
    [write('b.txt', 'one\n')],
    [write('b.txt', 'two\nthree\n')],
    [write('c.txt', 'c\n')],
    [{ say: 'done' }],
  ];
  const id = await runOn(user, script(...turns));
  const on = (...args: readonly string[]) => call(args, { env: user.env, cwd: user.path });
  const { stdout } = await on('diff', id, '--steps');
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  const [head, ...steps] = rows;
  expect(head).toEqual(['CURSOR', 'TIME', 'THREAD', 'STEP', 'LINES', 'FILES']);
  expect(steps.map(([, , ...cells]) => cells)).toEqual([
    ['start'],
    ['assistant', 'write', '+1 -0', 'b.txt'],
    ['assistant', 'write', '+2 -1', 'b.txt'],
    ['assistant', 'write', '+1 -0', 'c.txt'],
  ]);
  const [cursor] = steps[1]!;
  expect(await on('show', `${id}:b.txt`, '--at', cursor!)).toMatchObject({ code: 0, stdout: 'one\n' });
  expect(await on('show', `${id}:b.txt`, '--at', 'start')).toMatchObject({ code: 4 });
  expect((await on('restore', id, '--at', cursor!)).stdout).toContain('Undo it with --at');
  expect((await on('diff', id, '--steps')).stdout).toMatch(/ restore +\+\d+ -\d+ +b\.txt, c\.txt\n$/);
  const json = (await on('diff', id, '--steps', '--json')).stdout.trimEnd().split('\n');
  expect(json.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    'opened',
    'changed',
    'changed',
    'changed',
    'changed',
  ]);
  expect((await on('restore', id, '--at', 'start')).code).toBe(0);
  expect((await on('diff', id, '--stat')).stdout).toBe(' no files changed\n');
}, 60_000);

it('[Y165] paths begin in the working directory if that is in the repository, and behind a session at its top, as with git', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  const below = join(user.path, 'src');
  const on = (cwd: string, ...args: readonly string[]) => call(args, { env: user.env, cwd });
  const statOf = async (cwd: string, path: string) => (await on(cwd, 'diff', id, '--stat', path)).stdout;
  for (const [cwd, path] of [
    [below, 'new.js'],
    [below, './'],
    [user.path, 'src/new.js'],
    [user.path, 'src/'],
    [dirname(user.path), 'src/new.js'],
    [below, join(user.path, 'src/new.js')],
  ] as const) {
    expect([path, await statOf(cwd, path)]).toEqual([
      path,
      expect.stringMatching(/^ A src\/new\.js .*\n 1 file changed/),
    ]);
  }
  expect(await statOf(below, '../b.txt')).toMatch(/^ A b\.txt /);
  expect(await statOf(below, '..')).toContain(' 2 files changed');
  expect(await on(below, 'diff', id, '../../x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`../../x is outside of ${user.path}.`),
  });
  expect(await on(below, 'show', `${id}:b.txt`)).toMatchObject({ code: 0, stdout: 'b\n' });
  expect(await on(below, 'show', `${id}:./new.js`)).toMatchObject({ code: 0, stdout: 'new\n' });
  expect(await on(below, 'apply', id, 'b.txt')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('Nothing has changed in src/b.txt.\n  "fleetloom diff <session> --stat" lists'),
  });
  expect(await on(below, 'apply', id, '.')).toMatchObject({ code: 0 });
  expect(user.git('status', '--short')).toBe('?? src/new.js');
  mkdirSync(join(user.path, 'empty'));
  expect(await on(join(user.path, 'empty'), 'apply', id, '..')).toMatchObject({ code: 0 });
  expect(user.read('b.txt')).toBe('b\n');
  expect(toSessionPath('/elsewhere', undefined, './a/../b')).toBe('b');
}, 60_000);

it('[Y171] the diff of many files has every file once, also with selected paths', async () => {
  const user = createUserRepository();
  const bash = {
    call: 'bash',
    input: { command: 'mkdir many; for i in $(seq 1000 2000); do echo $i > many/$i.txt; done' },
  };
  const id = await runOn(user, script([bash, write('b.txt', 'b\n')], [{ say: 'done' }]), '--unsandboxed-bash');
  const headersOf = async (...paths: readonly string[]) => {
    const { stdout } = await call(['diff', id, ...paths], { env: user.env, cwd: user.path });
    return stdout.match(/^diff --git .*$/gm)!.map((line) => line.split(' b/')[1]!);
  };
  const many = Array.from({ length: 1_001 }, (_, at) => `many/${1_000 + at}.txt`);
  expect(await headersOf()).toEqual(['b.txt', ...many]);
  expect(await headersOf('many')).toEqual(many);
  expect(await headersOf('b.txt', 'many/1500.txt')).toEqual(['b.txt', 'many/1500.txt']);
}, 120_000);

it('[Y166] with --json a conflict is printed as the API returns it, and without in one line for each file; both exit with 5', async () => {
  const user = createUserRepository();
  const edit = { call: 'edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'theirs' } };
  const id = await runOn(user, script([edit, write('b.txt', 'theirs\n')], [{ say: 'done' }]));
  user.write('a.txt', 'mine\n');
  user.write('b.txt', 'mine\n');
  const on = (...args: readonly string[]) => call(args, { env: user.env, cwd: user.path });
  const json = await on('apply', id, '--json');
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    5,
    { type: 'error', error: { details: { error_code: 'apply_conflict', files_count: 2 } } },
  ]);
  const text = await on('apply', id);
  expect([text.code, text.stdout]).toEqual([5, '']);
  expect(text.stderr).toMatch(
    /^ {2}a\.txt {2}the same lines were changed on both sides \(1 place\)\n {2}b\.txt {2}both sides added the file, with different content\nfleetloom: The changes conflict/,
  );
  expect([user.read('a.txt'), user.read('b.txt')]).toEqual(['mine\n', 'mine\n']);
  expect(JSON.parse((await on('diff', id, '--thread', 'sthr_1', '--json')).stdout)).toMatchObject({ type: 'error' });
}, 60_000);

it('[Y167] an unknown thread is an error, and applying what is unchanged says so', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  const on = (...args: readonly string[]) => call(args, { env: user.env, cwd: user.path });
  expect(await on('diff', id, '--thread', 'sthr_1')).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringMatching(/has no thread sthr_1[^]*"fleetloom diff <session> --steps" names the threads/),
  });
  expect(await on('apply', id, 'a.txt', 'src/main.js')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('Nothing has changed in a.txt, src/main.js.'),
  });
  await on('restore', id, '--at', 'start');
  expect(await on('apply', id)).toMatchObject({ code: 0, stdout: `Nothing to do: ${id} has not changed any file.\n` });
}, 60_000);

it('[Y168] a run whose only changes were not recorded names them, and --apply does not claim that they are there', async () => {
  const user = createUserRepository();
  user.write('.gitignore', '*.env\n');
  user.git('add', '.gitignore');
  user.git('commit', '-qm', 'ignore');
  const bash = { call: 'bash', input: { command: 'echo secret > local.env' } };
  const args = ['run', script([bash], [{ say: 'done' }]), '--model', 'scripted/echo', '--unsandboxed-bash', '--apply'];
  const { code, stderr } = await call(args, { env: user.env, cwd: user.path });
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/Not recorded: local\.env \(ignored\)\.\n[^]*fleetloom discard /),
  ]);
  expect(stderr).not.toContain('has these changes already');
  expect(user.runs()).toHaveLength(1);
}, 60_000);
