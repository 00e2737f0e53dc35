import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { expect, it, onTestFinished } from 'vitest';
import { script } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { MAIN } from '../../test-support/processes.ts';
import { createUserRepository, type UserRepository } from '../../test-support/user-repository.ts';
import { CommandError } from '../base/command-error.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { settleSession } from './settle-session.ts';

const SLOW = script(
  [{ call: 'bash', input: { command: 'echo b > b.txt; sleep 30' } }],
  [{ call: 'write', input: { file_path: 'later.txt', content: 'later' } }],
  [{ say: 'done' }],
);

/** Kills a run during its tool call, and returns the id that it had printed. */
async function killRun(user: UserRepository, more: readonly string[] = []): Promise<string> {
  const args = [MAIN, 'run', SLOW, '--model', 'scripted/echo', '--unsandboxed-bash', ...more];
  const env = { ...process.env, ...user.env, NODE_OPTIONS: undefined, FLEETLOOM_URL: undefined };
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: user.path,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  // On a busy machine a start takes a minute. The timeout of the test ends it in any case.
  await expect.poll(() => wasWritten(user), { timeout: 300_000 }).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'close');
  return /^fleetloom: session (sesn_\w+)$/m.exec(text)![1]!;
}

function wasWritten({ data, path, runs }: UserRepository): boolean {
  if (existsSync(join(path, 'b.txt'))) return true;
  return runs().some((run) => {
    const workspaces = join(data, 'runs', run, 'workspaces');
    return existsSync(workspaces) && readdirSync(workspaces).some((id) => existsSync(join(workspaces, id, 'b.txt')));
  });
}

it('[WS241] after a run was killed, the commands about its changes recover it, interrupt it and find its files', async () => {
  const user = createUserRepository();
  const id = await killRun(user);
  const on = (...args: readonly string[]) => call(args, { env: user.env });
  expect((await on('diff', id, '--stat')).stdout).toBe(
    ' A b.txt |    1 +\n 1 file changed, 1 insertion(+), 0 deletions(-)\n',
  );
  expect((await on('apply', id, '--dry-run')).stdout).toContain('A b.txt');
  expect(await on('discard', id, '--yes')).toMatchObject({ code: 0, stdout: `Discarded ${id}.\n` });
  expect(user.runs()).toEqual([]);
}, 60_000);

it('[WS240] the change of a tool call that a crash interrupted is logged, with that call as its candidate', async () => {
  const user = createUserRepository();
  const id = await killRun(user);
  const { stdout } = await call(['diff', id, '--json', '--stat'], { env: user.env });
  const { files } = JSON.parse(stdout) as WorkspaceChanges;
  expect(files).toMatchObject([
    {
      path: 'b.txt',
      status: 'added',
      touched_by: [{ cause: 'recovered', tool_use_id: null, candidates: [{ tool_use_id: expect.any(String) }] }],
    },
  ]);
}, 60_000);

it('[WS452] after a run in place was killed no other works there in place, until its session is archived', async () => {
  const user = createUserRepository();
  const id = await killRun(user, ['--in-place']);
  const task = ['run', script([{ say: 'done' }]), '--model', 'scripted/echo', '--in-place'];
  const second = await call(task, { env: user.env, cwd: user.path });
  expect([second.code, second.stderr]).toEqual([
    5,
    expect.stringMatching(
      new RegExp(
        `${id} of another server works on .* in place, and its process was killed before it ended\\.\\n.*"fleetloom archive ${id}"`,
      ),
    ),
  ]);
  expect((await call(['archive', id], { env: user.env })).stdout).toBe(`Archived ${id}.\n`);
  expect((await call(task, { env: user.env, cwd: user.path })).code).toBe(0);
  expect(user.read('b.txt')).toBe('b\n');
}, 60_000);

it('[WS241] a session that stays running is reported when the time is over', async () => {
  const sent: object[] = [];
  const api = {
    get: async () => ({ id: 'sesn_1', status: 'running' }),
    post: async (_: string, body: object) => void sent.push(body),
  } as unknown as ServerApi;
  const settled = settleSession(api, '/v1/sessions/sesn_1', 120);
  await expect(settled).rejects.toThrow(
    new CommandError(1, 'sesn_1 was interrupted, and is still running after 0.12 s.', 'Repeat the command.'),
  );
  expect(sent).toEqual([{ events: [{ type: 'user.interrupt' }] }]);
});
