import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { script } from '../../test-support/fleet-server.ts';
import { limits } from '../base/limits.ts';
import { begin, call } from '../../test-support/live-io.ts';
import { createUserRepository, type UserRepository } from '../../test-support/user-repository.ts';

const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const TASK = script([write('b.txt', 'b\n')], [{ say: 'done' }]);
const run = (
  user: UserRepository,
  task: string,
  more: readonly string[] = [],
  env: Record<string, string> = user.env,
) => call(['run', task, '--model', 'scripted/echo', ...more], { env, cwd: user.path });

it('[WS120] inside a git repository a run works on a worktree of it, and ends with what changed and the commands to take or leave it', async () => {
  const user = createUserRepository();
  mkdirSync(join(user.path, 'src/deep'));
  const { code, stdout, stderr } = await call(['run', TASK, '--model', 'scripted/echo'], {
    env: user.env,
    cwd: join(user.path, 'src/deep'),
  });
  expect([code, stdout]).toEqual([0, 'done\n']);
  const id = /fleetloom apply (sesn_\w+)/.exec(stderr)![1]!;
  expect(stderr.slice(stderr.indexOf('\nChanged'))).toBe(
    [
      '',
      'Changed in a worktree; your files are as they were:',
      ' A b.txt |    1 +',
      ' 1 file changed, 1 insertion(+), 0 deletions(-)',
      '',
      `  see it    fleetloom diff ${id}`,
      `  take it   fleetloom apply ${id}`,
      `  leave it  fleetloom discard ${id}`,
      '',
    ].join('\n'),
  );
  expect(user.git('status', '--short')).toBe('');
  expect(user.runs()).toHaveLength(1);
  const json = await run(user, TASK, ['--json']);
  expect([json.code, json.stderr, json.stdout.includes('workspace_changed')]).toEqual([0, '', true]);
});

it('[WS125] --apply takes the changes when the run ends, --include-uncommitted carries yours over, and a run without changes leaves nothing', async () => {
  const user = createUserRepository();
  user.write('a.txt', 'mine\n');
  const read = script([{ call: 'read', input: { file_path: 'a.txt' } }], [{ say: '{{last_result}}' }]);
  const plain = await run(user, read);
  expect(plain.stdout).toContain('one');
  expect(plain.stderr).toContain('agents do not see your uncommitted changes; --include-uncommitted carries them over');
  expect(plain.stderr).toContain('No files changed.');
  const carried = await run(user, read, ['--include-uncommitted']);
  expect([carried.stdout.includes('mine'), carried.stderr.includes('--include-uncommitted')]).toEqual([true, false]);
  expect([user.runs(), user.git('worktree', 'list').split('\n').length]).toEqual([[], 1]);
  const applied = await run(user, TASK, ['--apply']);
  expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining(`Applied to ${user.path}.`)]);
  expect([user.read('b.txt'), user.read('a.txt'), user.runs()]).toEqual(['b\n', 'mine\n', []]);
  expect(user.git('branch', '--list', 'fleetloom/*')).toBe('');
  // Files that are not recorded cannot be applied, so the worktree that has them stays.
  user.write('.gitignore', '*.env\n');
  user.git('add', '.gitignore');
  user.git('commit', '-qm', 'ignore');
  const bash = { call: 'bash', input: { command: 'echo secret > local.env; echo c > c.txt' } };
  const partly = await run(user, script([bash], [{ say: 'done' }]), ['--apply', '--unsandboxed-bash']);
  expect([partly.code, partly.stderr]).toEqual([
    0,
    expect.stringMatching(/Not applied, and kept in the worktree: local\.env \(ignored\)\.[^]*fleetloom discard sesn_/),
  ]);
  expect([user.read('c.txt'), user.runs().length]).toEqual(['c\n', 1]);
  // A conflict keeps the run, and says how to go on.
  const edit = { call: 'edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'theirs' } };
  const conflict = await run(user, script([edit], [{ say: 'done' }]), ['--apply']);
  expect([conflict.code, conflict.stderr]).toEqual([
    5,
    expect.stringMatching(/fleetloom apply sesn_[^]*nothing was written/),
  ]);
  expect([user.read('a.txt'), user.runs().length]).toEqual(['mine\n', 2]);
});

it('[WS126] --in-place works on the files themselves, --no-workspace on an empty workspace, and options that exclude each other are refused', async () => {
  const user = createUserRepository();
  const plain = join(dirname(user.path), 'plain');
  const inPlace = await run(user, TASK, ['--in-place']);
  expect([inPlace.code, inPlace.stderr]).toEqual([0, expect.stringContaining(`Changed in ${user.path}:`)]);
  expect([user.read('b.txt'), user.git('status', '--short')]).toEqual(['b\n', '?? b.txt']);
  const without = await run(
    user,
    script([{ call: 'bash', input: { command: 'ls -A' } }], [{ say: '[{{last_result}}]' }]),
    ['--no-workspace', '--unsandboxed-bash', '--data', plain],
  );
  expect([without.code, without.stdout.includes('a.txt')]).toEqual([0, false]);
  for (const options of [
    ['--no-workspace', '--apply'],
    ['--in-place', '--apply'],
    ['--no-workspace', '--in-place'],
    ['--in-place', '--include-uncommitted'],
  ]) {
    expect(await run(user, TASK, options)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exclude each other'),
    });
  }
  const outside = await call(['run', TASK, '--apply'], { env: user.env, cwd: dirname(user.path) });
  expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('--apply needs a git repository') });
  expect(
    (
      await call(['run', 'hello', '--model', 'scripted/echo', '--data', plain], {
        env: user.env,
        cwd: dirname(user.path),
      })
    ).stdout,
  ).toBe('hello\n');
});

it('[WS242] two runs cannot work on a repository in place at the same time, but one after the other', async () => {
  const user = createUserRepository();
  const wait = { call: 'bash', input: { command: 'echo > begun; until [ -e go ]; do sleep 0.1; done' } };
  const slow = script([wait], [{ say: 'done' }]);
  const args = ['run', slow, '--model', 'scripted/echo', '--in-place', '--unsandboxed-bash'];
  const { fake, ended } = begin(args, { env: user.env, cwd: user.path });
  await expect.poll(() => existsSync(join(user.path, 'begun')), { timeout: 30_000 }).toBe(true);
  const id = /fleetloom: session (sesn_\w+)/.exec(fake.stderr.text)![1]!;
  const second = await run(user, TASK, ['--in-place']);
  expect([second.code, second.stderr]).toEqual([5, expect.stringContaining(`${id} of another server works on`)]);
  user.write('go', '');
  await ended;
  expect((await run(user, TASK, ['--in-place'])).code).toBe(0);
}, 60_000);

it('[WS127] with a server that runs already, a run works on the repository if that server allows it, and otherwise says what to do', async () => {
  const user = createUserRepository();
  const start = async (name: string, allowedDirectories: readonly string[]) => {
    const server = await startServer({ dataDirectory: join(dirname(user.path), name), allowedDirectories });
    onTestFinished(() => server.close());
    return { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey! };
  };
  const allowing = await start('one', [user.path]);
  const allowed = await run(user, TASK, [], allowing);
  expect([allowed.code, allowed.stderr]).toEqual([0, expect.stringContaining('Changed in a worktree')]);
  const id = /fleetloom apply (sesn_\w+)/.exec(allowed.stderr)![1]!;
  expect((await call(['apply', id], { env: allowing })).code).toBe(0);
  expect(user.read('b.txt')).toBe('b\n');
  const refusing = await start('two', []);
  const refused = await run(user, TASK, [], refusing);
  expect([
    refused.code,
    refused.stdout,
    refused.stderr.slice(refused.stderr.indexOf(`fleetloom: ${user.path}`)),
  ]).toEqual([
    5,
    '',
    [
      `fleetloom: ${user.path} is not in a directory that this server allows (it allows none).`,
      `  Start that server with --allow-directory ${user.path}, or pass --no-workspace to run in an empty workspace.`,
      '',
    ].join('\n'),
  ]);
  expect(await run(user, 'hello', ['--no-workspace'], refusing)).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(await run(user, TASK, ['--apply'], refusing)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('--allow-directory'),
  });
  const remote = { FLEETLOOM_URL: 'http://fleet.invalid' };
  const without = await run(user, TASK, [], remote);
  expect([without.code === 0, without.stderr]).toEqual([
    false,
    expect.stringContaining('begin with an empty workspace'),
  ]);
  expect(await run(user, TASK, ['--apply'], remote)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is on another machine'),
  });
  expect(existsSync(join(user.data, 'runs'))).toBe(false);
});

it('[WS129] the data of a run on a repository can be named, and the later commands find it there', async () => {
  const user = createUserRepository();
  const data = join(dirname(user.path), 'named');
  const { stderr } = await run(user, TASK, ['--data', data]);
  const id = /fleetloom apply (sesn_\w+) --data/.exec(stderr)![1]!;
  expect(stderr).toContain(`fleetloom discard ${id} --data ${data}`);
  expect((await call(['apply', id, '--data', data], { env: user.env })).code).toBe(0);
  expect((await call(['discard', id, '--data', data, '--yes'], { env: user.env })).code).toBe(0);
  expect([user.read('b.txt'), user.git('worktree', 'list').split('\n').length, existsSync(data)]).toEqual([
    'b\n',
    1,
    true,
  ]);
});

it('[WS606] the end of a run lists 50 files and the number of the others', async () => {
  const user = createUserRepository();
  const many = { call: 'bash', input: { command: 'for i in $(seq 1 51); do echo $i > f$i; done' } };
  const { stderr } = await run(user, script([many], [{ say: 'done' }]), ['--unsandboxed-bash']);
  expect(stderr.match(/^ A f\d+ +\|/gm)).toHaveLength(50);
  expect(stderr).toContain('\n … and 1 more\n 51 files changed, 51 insertions(+), 0 deletions(-)\n');
  expect(limits.statFilesMax).toBe(50);
}, 60_000);

it('[WS607] --include-uncommitted in a repository without commits gives the agents its files, and a bare repository is named', async () => {
  const user = createUserRepository();
  const empty = join(dirname(user.path), 'empty');
  user.git('init', '--quiet', empty);
  writeFileSync(join(empty, 'a.txt'), 'mine\n');
  const read = script([{ call: 'read', input: { file_path: 'a.txt' } }], [{ say: '{{last_result}}' }]);
  const args = ['run', read, '--model', 'scripted/echo'];
  const carried = await call([...args, '--include-uncommitted'], { env: user.env, cwd: empty });
  expect([carried.code, carried.stdout]).toEqual([0, expect.stringContaining('mine')]);
  const bare = join(dirname(user.path), 'bare');
  user.git('init', '--quiet', '--bare', bare);
  const { stderr } = await call(['run', 'hello', '--model', 'scripted/echo'], { env: user.env, cwd: bare });
  expect(stderr).toContain(
    `fleetloom: ${bare} is a bare repository. The agents begin with an empty workspace.\n  Add a worktree to it`,
  );
}, 60_000);
