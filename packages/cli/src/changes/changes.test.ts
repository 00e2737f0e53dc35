import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceChanges, WorkspaceDiff } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { eventually } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { script } from '../../test-support/fleet-server.ts';
import { begin, call } from '../../test-support/live-io.ts';
import { createUserRepository, type UserRepository } from '../../test-support/user-repository.ts';

const WRITE = [
  { call: 'write', input: { file_path: 'b.txt', content: 'b\n' } },
  { call: 'edit', input: { file_path: 'a.txt', old_string: 'one\n', new_string: 'one\ntwo\n' } },
];
const TASK = script(WRITE, [{ say: 'done' }]);

/** Runs a task on a repository and returns the id of its session. */
async function runOn(user: UserRepository, task = TASK, ...more: readonly string[]): Promise<string> {
  const { code, stderr } = await call(['run', task, '--model', 'scripted/echo', ...more], {
    env: user.env,
    cwd: user.path,
  });
  expect([code, stderr]).toEqual([0, expect.stringContaining('fleetloom apply sesn_')]);
  return /fleetloom apply (sesn_\w+)/.exec(stderr)![1]!;
}

it('[WS121] diff prints what agents changed as git does, show prints a file, and both can be read as JSON or at a cursor', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  const on = (...args: readonly string[]) => call(args, { env: user.env });
  const { stdout } = await on('diff', id);
  expect(stdout).toMatch(
    /^diff --git a\/a\.txt b\/a\.txt\n[^]*@@ -1 \+1,2 @@\n one\n\+two\ndiff --git a\/b\.txt [^]*\+b\n$/,
  );
  expect((await on('diff', id, '--stat')).stdout).toBe(
    ' M a.txt |    1 +\n A b.txt |    1 +\n 2 files changed, 2 insertions(+), 0 deletions(-)\n',
  );
  expect((await on('diff', id, 'b.txt', '--stat')).stdout).toContain(' 1 file changed');
  expect(await on('diff', id, 'src')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('Nothing has changed in src.'),
  });
  const json = JSON.parse((await on('diff', id, '--json')).stdout) as WorkspaceChanges & { diffs: WorkspaceDiff[] };
  expect([json.files_count, json.diffs.map(({ path }) => path)]).toEqual([2, ['a.txt', 'b.txt']]);
  const [thread] = json.threads;
  expect((await on('diff', id, '--stat', '--thread', thread!.session_thread_id)).stdout).toContain(' 2 files changed');
  expect((await on('diff', id, '--stat', '--to', json.from!.cursor)).stdout).toBe(' no files changed\n');
  expect(await on('show', `${id}:a.txt`)).toMatchObject({ code: 0, stdout: 'one\ntwo\n' });
  expect(await on('show', `${id}:a.txt`, '--at', json.from!.cursor)).toMatchObject({ code: 0, stdout: 'one\n' });
  // The end of the id is enough for a session of `fleetloom run`.
  expect(await on('show', `${id.slice(-8)}:b.txt`)).toMatchObject({ code: 0, stdout: 'b\n' });
  expect(await on('show', `${id}:none`)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('has no file none'),
  });
  expect(await on('show', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('<session>:<path>') });
  expect(await on('diff', id, '--data', user.path)).toMatchObject({ code: 4 });
});

it('[WS121] a binary file is in the diff in the form of git, and `git apply` refuses it instead of leaving it out', async () => {
  const user = createUserRepository();
  const bash = { call: 'bash', input: { command: "printf 'a\\0b' > logo.bin; echo two >> a.txt" } };
  const id = await runOn(user, script([bash], [{ say: 'done' }]), '--unsandboxed-bash');
  const { stdout } = await call(['diff', id], { env: user.env });
  expect(stdout).toContain(
    'diff --git a/logo.bin b/logo.bin\nnew file mode 100644\nBinary files /dev/null and b/logo.bin differ\n',
  );
  const patch = join(user.path, '..', 'changes.patch');
  writeFileSync(patch, stdout);
  expect(() => user.git('apply', '--check', patch)).toThrow();
});

it('[WS122] apply takes the changes, all or some, into the working tree or onto a branch; a conflict returns 5 and writes nothing', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  const apply = (...args: readonly string[]) => call(['apply', id, ...args], { env: user.env });
  expect(await apply('--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Would be applied to ${user.path}. Nothing was written.`),
  });
  expect(user.git('status', '--short')).toBe('');
  user.write('a.txt', 'mine\n');
  expect(await apply()).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/conflict with .*project in a\.txt, and nothing was written/),
  });
  expect(user.git('status', '--short')).toBe(' M a.txt');
  expect(await apply('b.txt')).toMatchObject({ code: 0, stdout: expect.stringContaining(`Applied to ${user.path}.`) });
  expect([user.read('b.txt'), user.read('a.txt')]).toEqual(['b\n', 'mine\n']);
  expect(await apply('--branch', 'result', '--message', 'Add two')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Committed to the branch result as [0-9a-f]{12}\./),
  });
  expect(user.git('log', '-1', '--format=%an: %s', 'result')).toBe('Ada: Add two');
  expect(user.git('diff', '--name-only', 'main', 'result')).toBe('a.txt\nb.txt');
  user.write('a.txt', 'one\n');
  expect((await apply()).stdout).toContain('Applied to');
  expect((await apply()).stdout).toBe(`Nothing to do: ${user.path} has these changes already.\n`);
  expect(user.read('a.txt')).toBe('one\ntwo\n');
});

it('[WS123] discard says what is lost, asks, and removes worktree, branch and data of the run', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  const { env } = user;
  const silent = await call(['discard', id], { env });
  expect([silent.code, silent.stderr]).toEqual([
    2,
    expect.stringMatching(/and the branch fleetloom\/[^]* 2 files changed[^]*Pass --yes\./),
  ]);
  const answer = async (key: string) => {
    const terminal = new FakeTerminal();
    const { fake, ended } = begin(['discard', id], { terminal, env });
    await eventually(() => fake.keyboards === 1);
    fake.type(key);
    return [await ended, fake.stderr.text];
  };
  expect(await answer('n')).toEqual([1, expect.stringContaining('Nothing was removed.')]);
  expect([user.git('worktree', 'list').split('\n').length, user.runs().length]).toEqual([2, 1]);
  expect(await answer('y')).toEqual([0, expect.any(String)]);
  expect([user.git('worktree', 'list').split('\n').length, user.runs()]).toEqual([1, []]);
  expect(user.git('branch', '--list', 'fleetloom/*')).toBe('');
});

it('[WS243] discard of a run in place removes its record and .fleetloom, and keeps the files', async () => {
  const user = createUserRepository();
  const args = ['run', TASK, '--model', 'scripted/echo', '--in-place'];
  const { stderr } = await call(args, { env: user.env, cwd: user.path });
  const id = /fleetloom diff (sesn_\w+)/.exec(stderr)![1]!;
  expect([user.runs().length, existsSync(join(user.path, '.fleetloom'))]).toEqual([1, true]);
  const asked = await call(['discard', id], { env: user.env });
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('Your files are kept.')]);
  expect(await call(['discard', id, '--yes'], { env: user.env })).toMatchObject({
    code: 0,
    stdout: `Discarded ${id}. Your files were kept.\n`,
  });
  expect([user.runs(), existsSync(join(user.path, '.fleetloom'))]).toEqual([[], false]);
  expect([user.read('b.txt'), user.read('a.txt')]).toEqual(['b\n', 'one\ntwo\n']);
});

it('[WS243] a second discard of a session reports that it was discarded already', async () => {
  const user = createUserRepository();
  const data = join(user.data, 'named');
  const id = await runOn(user, TASK, '--data', data);
  const discard = () => call(['discard', id, '--data', data, '--yes'], { env: user.env });
  expect((await discard()).stdout).toBe(`Discarded ${id}.\n`);
  expect(await discard()).toMatchObject({ code: 0, stdout: 'Already discarded.\n', stderr: '' });
});

it('[WS244] a conflict advises a branch, and an error does not mention the temporary server of the command', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  user.write('a.txt', 'mine\n');
  const conflict = await call(['apply', id], { env: user.env });
  expect(conflict.stderr).toMatch(
    /nothing was written\.\n {2}Name other files, or commit them to a branch: fleetloom apply <session> --branch <name>\n$/,
  );
  const missing = await call(['show', `${id}:missing.txt`], { env: user.env });
  expect([missing.code, missing.stderr]).toEqual([
    4,
    expect.stringMatching(/: the workspace has no file missing\.txt at the cursor \d+\.\n {2}"fleetloom diff/i),
  ]);
  const checkedOut = await call(['apply', id, '--branch', 'main'], { env: user.env });
  expect([checkedOut.code, checkedOut.stderr]).toEqual([5, expect.not.stringContaining('http://')]);
});

it('[WS616] errors of apply and restore in place name options, and nothing of the API', async () => {
  const user = createUserRepository();
  const { stderr } = await call(['run', TASK, '--in-place', '--model', 'scripted/echo'], {
    env: user.env,
    cwd: user.path,
  });
  const id = /sesn_\w+/.exec(stderr)![0];
  const applied = await call(['apply', id], { env: user.env });
  expect([applied.code, applied.stderr]).toEqual([
    5,
    expect.stringMatching(/are there already\.\n {2}Commit them to a branch: .* --branch <name>\n$/),
  ]);
  appendFileSync(join(user.path, 'a.txt'), 'edit\n');
  const restored = await call(['restore', id, '--at', 'start'], { env: user.env });
  expect([restored.code, restored.stderr]).toEqual([
    5,
    expect.stringMatching(/nothing was written\.\n {2}Move your changes .* with --overwrite\.\n$/),
  ]);
});

it('[WS124] restore sets the workspace back to a cursor', async () => {
  const user = createUserRepository();
  const id = await runOn(user);
  const on = (...args: readonly string[]) => call(args, { env: user.env });
  const { from } = JSON.parse((await on('diff', id, '--json', '--stat')).stdout) as WorkspaceChanges;
  expect(await on('restore', id)).toMatchObject({ code: 2 });
  expect(await on('restore', id, '--at', from!.cursor, '--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Nothing was written.'),
  });
  expect(await on('restore', id, '--at', from!.cursor)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`as they were at ${from!.cursor}.`),
  });
  expect((await on('diff', id, '--stat')).stdout).toBe(' no files changed\n');
  expect((await on('restore', id, '--at', from!.cursor)).stdout).toContain('Nothing to do');
});

it('[WS234] restore of a session in place keeps later work of the user, and overwrites it only if asked', async () => {
  const user = createUserRepository();
  const args = ['run', TASK, '--in-place', '--model', 'scripted/echo'];
  const { stderr } = await call(args, { env: user.env, cwd: user.path });
  const id = /sesn_\w+/.exec(stderr)![0];
  const on = (...more: readonly string[]) => call(more, { env: user.env });
  const { from, to } = JSON.parse((await on('diff', id, '--json', '--stat')).stdout) as WorkspaceChanges;
  const read = (path: string) => readFileSync(join(user.path, path), 'utf8');
  writeFileSync(join(user.path, 'mine.txt'), 'mine\n');
  appendFileSync(join(user.path, 'a.txt'), 'edit\n');
  expect((await on('restore', id, '--at', to!.cursor)).stdout).toContain('Nothing to do');
  expect(await on('restore', id, '--at', from!.cursor)).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/\(a\.txt\), and nothing was written/),
  });
  expect([read('mine.txt'), read('a.txt'), read('b.txt')]).toEqual(['mine\n', 'one\ntwo\nedit\n', 'b\n']);
  const overwrite = ['restore', id, '--at', from!.cursor, '--overwrite'];
  expect((await on(...overwrite, '--dry-run')).stdout).toContain(
    'Would overwrite changes that the session did not make: a.txt.',
  );
  const { stdout } = await on(...overwrite);
  expect(stdout).toContain('Overwrote changes that the session did not make: a.txt.');
  expect([read('mine.txt'), read('a.txt'), existsSync(join(user.path, 'b.txt'))]).toEqual(['mine\n', 'one\n', false]);
  const [, cursor] = /Undo it with --at (\d+)\./.exec(stdout)!;
  expect(await on('restore', id, '--at', cursor!)).toMatchObject({ code: 0 });
  expect([read('mine.txt'), read('a.txt'), read('b.txt')]).toEqual(['mine\n', 'one\ntwo\nedit\n', 'b\n']);
});

it('[WS128] on a terminal a long diff is shown in the pager of PAGER, in colours and without control characters', async () => {
  const user = createUserRepository();
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at} \u001b[31m\n`).join('');
  const id = await runOn(
    user,
    script([{ call: 'write', input: { file_path: 'long.txt', content: lines } }], [{ say: 'done' }]),
  );
  const terminal = new FakeTerminal();
  const shown: [string, string][] = [];
  const { fake, ended } = begin(['diff', id], {
    terminal,
    env: { ...user.env, PAGER: 'more', NO_COLOR: '', FORCE_COLOR: '1' },
  });
  fake.openPager = async (command, text) => shown.push([command, text]) > 0;
  expect(await ended).toBe(0);
  const [[command, text] = ['', '']] = shown;
  expect(command).toBe('more');
  expect(text).toContain('\u001b[32m+line 99');
  expect(text).not.toContain('\u001b[31m\n');
  expect(existsSync(join(user.path, 'long.txt'))).toBe(false);
});

it('[WS603] diff prints all files, also those behind the first page of the server, and finds each by its path', async () => {
  const user = createUserRepository();
  const count = 2_001;
  const many = { call: 'bash', input: { command: `for i in $(seq 10001 ${10_000 + count}); do echo $i > f$i; done` } };
  const id = await runOn(user, script([many], [{ say: 'done' }]), '--unsandboxed-bash');
  const last = `f${10_000 + count}`;
  const on = (...args: readonly string[]) => call(args, { env: user.env });
  const whole = await on('diff', id);
  expect(whole.stdout.match(/^diff --git /gm)).toHaveLength(count);
  expect((await on('diff', id, last)).stdout).toContain(`+++ b/${last}\n`);
  const stat = (await on('diff', id, '--stat')).stdout.trimEnd().split('\n');
  expect([stat.length, stat.at(-1)]).toEqual([count + 1, expect.stringContaining(` ${count} files changed`)]);
}, 120_000);
