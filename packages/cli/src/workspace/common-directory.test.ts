import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../base/limits.ts';
import { script } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { createUserRepository } from '../../test-support/user-repository.ts';
import { findCommonDirectory } from './common-directory.ts';

const write = { call: 'write', input: { file_path: 'b.txt', content: 'b\n' } };
const RUN = ['run', script([write], [{ say: 'done' }]), '--model', 'scripted/echo'];

function createLinkedWorktree() {
  const user = createUserRepository();
  const linked = join(dirname(user.path), 'linked');
  user.git('worktree', 'add', '--quiet', '-b', 'linked', linked);
  return { user, linked, common: join(user.path, '.git') };
}

it('[Y214] a run in a linked worktree changes a worktree of it, and its changes can be applied', async () => {
  const { user, linked } = createLinkedWorktree();
  const { code, stderr } = await call(RUN, { env: user.env, cwd: linked });
  expect([code, stderr]).toEqual([0, expect.stringContaining('Changed in a worktree; your files are as they were:')]);
  const id = /fleetloom apply (sesn_\w+)/.exec(stderr)![1]!;
  expect((await call(['apply', id], { env: user.env, cwd: linked })).code).toBe(0);
  expect(readFileSync(join(linked, 'b.txt'), 'utf8')).toBe('b\n');
  expect(user.git('status', '--short')).toBe('');
}, 60_000);

it('[Y230] a run in a submodule changes a worktree of it, and its changes can be applied', async () => {
  const user = createUserRepository();
  const above = join(dirname(user.path), 'super');
  user.git('init', '--quiet', above);
  const added = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', user.path, 'sub'];
  user.git('-C', above, ...added);
  const [sub, common] = [join(above, 'sub'), join(above, '.git/modules/sub')];
  expect(findCommonDirectory(sub)).toBe(common);
  const { code, stderr } = await call(RUN, { env: user.env, cwd: sub });
  expect([code, stderr]).toEqual([0, expect.stringContaining('Changed in a worktree; your files are as they were:')]);
  const id = /fleetloom apply (sesn_\w+)/.exec(stderr)![1]!;
  expect((await call(['apply', id], { env: user.env, cwd: sub })).code).toBe(0);
  expect(readFileSync(join(sub, 'b.txt'), 'utf8')).toBe('b\n');
  // A directory that the repository of the submodule does not name.
  const forged = join(above, 'forged');
  mkdirSync(forged);
  writeFileSync(join(forged, '.git'), `gitdir: ${common}\n`);
  expect(findCommonDirectory(forged)).toBeUndefined();
}, 60_000);

it('[Y214] the error of a server that does not allow the worktree names both directories', async () => {
  const { user, linked, common } = createLinkedWorktree();
  for (const [name, allowedDirectories] of [
    ['none', []],
    ['one', [linked]],
  ] as const) {
    const server = await startServer({ dataDirectory: join(dirname(user.path), name), allowedDirectories });
    onTestFinished(() => server.close());
    const env = { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey! };
    const { code, stderr } = await call(RUN, { env, cwd: linked });
    expect([code, stderr]).toEqual([
      5,
      expect.stringContaining(`--allow-directory ${linked} --allow-directory ${common}`),
    ]);
    expect(stderr).not.toContain('mode copy');
  }
}, 60_000);

it('[Y214] a .git file that names a repository which does not list the worktree allows nothing', () => {
  const { user, linked, common } = createLinkedWorktree();
  expect(findCommonDirectory(linked)).toBe(common);
  expect(findCommonDirectory(user.path)).toBeUndefined();
  const forged = join(dirname(user.path), 'forged');
  mkdirSync(forged);
  expect(findCommonDirectory(forged)).toBeUndefined();
  for (const named of [common, join(common, 'worktrees/linked')]) {
    writeFileSync(join(forged, '.git'), `gitdir: ${named}\n`);
    expect(findCommonDirectory(forged)).toBeUndefined();
  }
});

it('[Y214] a .git file is read up to 4,096 bytes', () => {
  const { linked, common } = createLinkedWorktree();
  const line = readFileSync(join(linked, '.git'), 'utf8').trimEnd();
  for (const [bytes, found] of [
    [limits.gitFileBytesMax, common],
    [limits.gitFileBytesMax + 1, undefined],
  ] as const) {
    writeFileSync(join(linked, '.git'), line.padEnd(bytes, '\n'));
    expect(findCommonDirectory(linked)).toBe(found);
  }
});
