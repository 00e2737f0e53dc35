import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { script } from '../../test-support/fleet-server.ts';
import { begin, call } from '../../test-support/live-io.ts';
import { createUserRepository, type UserRepository } from '../../test-support/user-repository.ts';

const WRITE = { call: 'write', input: { file_path: 'b.txt', content: 'b\n' } };
const TASK = script([WRITE], [{ say: 'done' }]);
const idIn = (text: string) => /sesn_\w+/.exec(text)![0];

async function serveFor(user: UserRepository): Promise<Record<string, string>> {
  const server = await startServer({
    dataDirectory: join(dirname(user.path), 'server'),
    allowedDirectories: [user.path],
  });
  onTestFinished(() => server.close());
  return { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey! };
}

it('[Y169] archive releases the directory that a session works on in place, and the error of a second session names that command', async () => {
  const user = createUserRepository();
  const env = await serveFor(user);
  const run = () => call(['run', TASK, '--model', 'scripted/echo', '--in-place'], { env, cwd: user.path });
  const id = idIn((await run()).stderr);
  expect(await run()).toMatchObject({
    code: 5,
    stderr: expect.stringContaining(
      `${id} works on ${user.path} in place.\n  Release it with "fleetloom archive ${id}", or omit --in-place.\n`,
    ),
  });
  expect(await call(['archive', id], { env })).toMatchObject({ code: 0, stdout: `Archived ${id}.\n`, stderr: '' });
  const second = await run();
  expect(second.code).toBe(0);
  // Its changes stay readable.
  expect((await call(['diff', id, '--stat'], { env })).stdout).toContain(' A b.txt ');
  const other = idIn(second.stderr);
  const json = await call(['archive', other, '--json'], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({ id: other, archived_at: expect.any(String) });
  expect(await call(['archive', 'sesn_none'], { env })).toMatchObject({ code: 4 });
  expect(await call(['archive', 'none'], { env })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('"none" is not a session.'),
  });
}, 60_000);

it('[Y169] a run in place on a named data directory is released with the same --data', async () => {
  const user = createUserRepository();
  const data = join(dirname(user.path), 'named');
  const args = ['run', TASK, '--model', 'scripted/echo', '--in-place', '--data', data];
  const run = () => call(args, { env: user.env, cwd: user.path });
  const id = idIn((await run()).stderr);
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([5, expect.stringContaining(`"fleetloom archive ${id} --data ${data}"`)]);
  expect((await call(['archive', id, '--data', data], { env: user.env })).code).toBe(0);
  expect((await run()).code).toBe(0);
}, 60_000);

it('[Y170] delete prints what is lost and asks, and without a terminal needs --yes', async () => {
  const user = createUserRepository();
  const env = await serveFor(user);
  const run = async (...more: readonly string[]) =>
    idIn((await call(['run', TASK, '--model', 'scripted/echo', ...more], { env, cwd: user.path })).stderr);
  const id = await run();
  const silent = await call(['delete', id], { env });
  expect([silent.code, silent.stderr]).toEqual([
    2,
    expect.stringMatching(
      /This deletes the log of sesn_[^]*and the branch fleetloom\/[^]* 1 file changed[^]*Pass --yes\./,
    ),
  ]);
  const answer = async (key: string) => {
    const { fake, ended } = begin(['delete', id], { terminal: new FakeTerminal(), env });
    await eventually(() => fake.keyboards === 1);
    fake.type(key);
    return [await ended, fake.stderr.text];
  };
  expect(await answer('n')).toEqual([1, expect.stringContaining(`Delete ${id}? [y/N] \nNothing was deleted.`)]);
  expect(user.git('worktree', 'list').split('\n')).toHaveLength(2);
  expect(await answer('y')).toEqual([0, expect.any(String)]);
  expect(await call(['diff', id], { env })).toMatchObject({ code: 4 });
  await expect.poll(() => user.git('worktree', 'list').split('\n').length).toBe(1);
  await expect.poll(() => user.git('branch', '--list', 'fleetloom/*')).toBe('');

  // The user's own files are not lost, and several sessions are deleted one by one.
  const inPlace = await run('--in-place');
  const plain = await call(['run', 'hello', '--model', 'scripted/echo', '--no-workspace', '--json'], { env });
  const both = await call(['delete', inPlace, idIn(plain.stdout), '--yes'], { env });
  expect(both).toMatchObject({ code: 0, stderr: expect.stringContaining(`Your files in ${user.path} are kept.`) });
  expect(both.stdout.match(/^Deleted sesn_\w+\.$/gm)).toHaveLength(2);
  expect(user.read('b.txt')).toBe('b\n');
}, 60_000);

it('[Y170] delete of a run removes its data; a run in place keeps the files', async () => {
  const user = createUserRepository();
  const run = async (...more: readonly string[]) =>
    idIn((await call(['run', TASK, '--model', 'scripted/echo', ...more], { env: user.env, cwd: user.path })).stderr);
  const ids = [await run(), await run('--in-place')];
  expect(user.runs()).toHaveLength(2);
  const json = await call(['delete', ...ids.map((id) => id.slice(-8)), '--yes', '--json'], { env: user.env });
  expect([json.code, json.stderr]).toEqual([0, '']);
  expect(
    json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual(ids);
  expect([user.runs(), user.read('b.txt'), existsSync(join(user.path, '.fleetloom'))]).toEqual([[], 'b\n', false]);
}, 60_000);
