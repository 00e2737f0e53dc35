import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { script } from '../../test-support/fleet-server.ts';
import { FakeIo } from '../../test-support/fake-io.ts';
import { begin, call, toLiveIo } from '../../test-support/live-io.ts';
import { createUserRepository } from '../../test-support/user-repository.ts';
import { limits } from '../base/limits.ts';
import { withChanges } from './open-changes.ts';

it('[WS604] while a run is running its changes can be seen and taken, and it can be neither discarded nor ended', async () => {
  const user = createUserRepository();
  const turns = [
    [{ call: 'write', input: { file_path: 'b.txt', content: 'b\n' } }],
    [{ call: 'bash', input: { command: 'until [ -e go ]; do sleep 0.1; done' } }],
    [{ say: 'done' }],
  ];
  const args = ['run', script(...turns), '--model', 'scripted/echo', '--unsandboxed-bash'];
  const { fake, ended } = begin(args, { env: user.env, cwd: user.path });
  const on = (...more: readonly string[]) => call(more, { env: user.env, cwd: user.path });
  await expect.poll(() => fake.stderr.text, { timeout: 30_000 }).toMatch(/bash: until/);
  const id = /fleetloom: session (sesn_\w+)/.exec(fake.stderr.text)![1]!;
  try {
    expect((await on('diff', '--stat')).stdout).toBe(
      ' A b.txt |    1 +\n 1 file changed, 1 insertion(+), 0 deletions(-)\n',
    );
    expect((await on('show', `${id}:b.txt`)).stdout).toBe('b\n');
    expect((await on('apply', id)).stdout).toContain(`Applied to ${user.path}.`);
    expect(user.read('b.txt')).toBe('b\n');
    for (const command of [
      ['discard', id, '--yes'],
      ['archive', id],
      ['delete', id, '--yes'],
    ]) {
      const refused = await on(...command);
      expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining(`${id} is still running.`)]);
    }
    expect((await on('restore', id, '--at', 'start')).code).toBe(5);
    expect(user.runs()).toHaveLength(1);
  } finally {
    writeFileSync(join(user.data, 'runs', user.runs()[0]!, 'workspaces', id, 'go'), '');
  }
  // Nothing of this has interrupted it.
  expect(await ended).toBe(0);
  expect(fake.stdout.text).toBe('done\n');
  expect((await on('discard', '--yes')).code).toBe(0);
  expect(user.runs()).toEqual([]);
}, 60_000);

it('[WS605] a command waits for another one that has the data of the run open, for a time', async () => {
  const user = createUserRepository();
  const write = [{ call: 'write', input: { file_path: 'b.txt', content: 'b\n' } }];
  const { stderr } = await call(['run', script(write, [{ say: 'done' }]), '--model', 'scripted/echo'], {
    env: user.env,
    cwd: user.path,
  });
  const id = /fleetloom apply (sesn_\w+)/.exec(stderr)![1]!;
  const on = (...more: readonly string[]) => call(more, { env: user.env });
  const both = await Promise.all([on('apply', id), on('apply', id)]);
  expect(both.map(({ code, stderr: text }) => [code, text])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(both.map(({ stdout }) => /Applied|Nothing to do/.exec(stdout)?.[0] ?? '').toSorted()).toEqual([
    'Applied',
    'Nothing to do',
  ]);
  // One that does not end.
  const [run = ''] = user.runs();
  const dataDirectory = join(user.data, 'runs', run);
  const other = await startServer({ dataDirectory, allowedDirectories: [user.path] });
  onTestFinished(() => other.close());
  const io = toLiveIo(new FakeIo({ input: '', env: user.env }));
  const waited = withChanges(io, id, {}, async () => 0, { waitMs: 500 });
  await expect(waited).rejects.toMatchObject({
    exitCode: 5,
    message: `Another process has the data of ${id} open (${dataDirectory}).`,
  });
  expect([limits.runDataWaitMs, existsSync(dataDirectory)]).toEqual([30_000, true]);
}, 60_000);
