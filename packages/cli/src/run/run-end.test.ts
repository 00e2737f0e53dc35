import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { script } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { createUserRepository } from '../../test-support/user-repository.ts';
import { keepRun } from '../workspace/kept-runs.ts';

const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const edit = { call: 'edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'theirs' } };
const toArgs = (step: object) => [
  'run',
  script([{ call: 'read', input: { file_path: 'a.txt' } }], [step], [{ say: 'done' }]),
  '--model',
  'scripted/echo',
];

it('[Y215] in a repository without commits a run says that the changes are in a copy, and nothing about uncommitted changes', async () => {
  const user = createUserRepository();
  user.git('update-ref', '-d', 'HEAD');
  expect(user.git('status', '--short')).not.toBe('');
  const { code, stderr } = await call(toArgs(write('b.txt', 'b\n')), { env: user.env, cwd: user.path });
  expect([code, stderr]).toEqual([0, expect.stringContaining('Changed in a copy; your files are as they were:')]);
  expect(stderr).not.toMatch(/uncommitted|worktree/);
}, 60_000);

it('[Y216] a run that ended with a conflict of --apply has ended, with what it changed', async () => {
  const user = createUserRepository();
  user.write('a.txt', 'mine\n');
  expect((await call([...toArgs(edit), '--apply'], { env: user.env, cwd: user.path })).code).toBe(5);
  const { stdout } = await call(['runs', '--json'], { env: user.env });
  expect(JSON.parse(stdout)).toMatchObject({
    state: 'ended',
    changes: { files_count: 1, lines_added: 1, lines_removed: 1 },
  });
}, 60_000);

it('[Y216] a run without an end is interrupted once its process is gone', async () => {
  const user = createUserRepository();
  const gone = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  const session = { id: 'sesn_1', directory: user.path, isInPlace: false, task: 'x', startedAt: 1 };
  for (const [processId, cell, state] of [
    [process.pid, 'not ended', 'running'],
    [gone, 'interrupted', 'interrupted'],
  ] as const) {
    await keepRun(join(user.data, 'runs', 'one'), { ...session, processId });
    expect((await call(['runs'], { env: user.env })).stdout).toContain(cell);
    expect(JSON.parse((await call(['runs', '--json'], { env: user.env })).stdout)).toMatchObject({
      state,
      changes: null,
    });
  }
});

it('[Y218] diff --steps shows an apply with the number of its files', async () => {
  const user = createUserRepository();
  const { stderr } = await call(toArgs(write('b.txt', 'b\n')), { env: user.env, cwd: user.path });
  const id = /fleetloom apply (sesn_\w+)/.exec(stderr)![1]!;
  expect((await call(['apply', id], { env: user.env })).code).toBe(0);
  expect((await call(['diff', id, '--steps'], { env: user.env })).stdout).toMatch(/ applied by .* 1 file\n$/);
}, 60_000);
