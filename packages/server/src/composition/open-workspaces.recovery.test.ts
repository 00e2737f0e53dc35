import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findOrphanedWorktrees } from '../workspaces/sources/find-orphans.ts';
import type { RepositoryGit } from '../workspaces/git/repository-git.ts';
import { withRepository } from '../workspaces/repository.suite.ts';
import { openTestWorkspaces } from './open-workspaces.suite.ts';

/** Never comes back from a git command, before or after it: as if the process had been killed there. */
function dieAt(command: string, moment: 'before' | 'after'): (git: RepositoryGit) => RepositoryGit {
  return (git) => ({
    run: async (args, options) => {
      const isHere = args[0] === command;
      if (!isHere || moment === 'after') {
        const output = await git.run(args, options);
        if (!isHere) return output;
      }
      died.shift()?.();
      return await new Promise(() => {});
    },
  });
}

/** Called when the process would be dead. */
const died: (() => void)[] = [];

it.each([
  ['for-each-ref', 'before'],
  ['worktree', 'before'],
  ['worktree', 'after'],
  ['read-tree', 'before'],
  ['read-tree', 'after'],
  ['ls-files', 'after'],
] as const)(
  '[WS30] a workspace that was being created when the server was killed (%s, %s it) is created again, or removed, without a trace',
  (command, moment) =>
    withRepository(async (user) => {
      const before = user.fingerprint();
      const first = await openTestWorkspaces(user, { wrapGit: dieAt(command, moment) });
      const params = { path: user.path, copy: ['.env'] };
      const [kept, gone] = [await first.add(params), await first.add(params)];
      for (const id of [kept, gone]) {
        const death = new Promise<void>((resolve) => died.push(resolve));
        void first.workspaces.open(id);
        await death;
      }
      expect((await findOrphanedWorktrees(first.dataDirectory)).map(({ problem }) => problem)).toEqual(
        Array.from({ length: 2 }, () => 'it is half made, by a server that was killed'),
      );
      const next = await first.again();
      await next.workspaces.remove(gone);
      const workspace = await next.workspaces.open(kept);
      expect(await readFile(join(workspace, 'README.md'), 'utf8')).toBe('second\n');
      expect(await readFile(join(workspace, '.env'), 'utf8')).toBe('SECRET=1\n');
      expect(user.git('worktree', 'list').split('\n')).toHaveLength(2);
      expect(user.git('branch', '--list', 'fleetloom/*').split('\n')).toHaveLength(1);
      expect(await findOrphanedWorktrees(next.dataDirectory)).toEqual([]);
      await next.workspaces.remove(kept);
      expect(user.fingerprint()).toEqual(before);
      expect(existsSync(join(next.dataDirectory, 'workspaces-git', kept))).toBe(false);
    }),
);

it('[WS31] a branch that was moved is kept when its session is removed', () =>
  withRepository(async (user) => {
    const { workspaces, add, resourceOf } = await openTestWorkspaces(user);
    const id = await add({ path: user.path });
    await workspaces.open(id);
    const { branch } = resourceOf(id);
    user.git('update-ref', `refs/heads/${branch}`, 'v1');
    await workspaces.remove(id);
    expect(user.git('rev-parse', branch!)).toBe(user.git('rev-parse', 'v1'));
    expect(user.git('worktree', 'list').split('\n')).toHaveLength(1);
  }));

it('[WS32] doctor lists worktrees whose files are gone, that the repository does not know, and that no session has', () =>
  withRepository(async (user) => {
    const { workspaces, add, dataDirectory } = await openTestWorkspaces(user);
    const [lost, pruned, foreign] = [await add({ path: user.path }), await add({ path: user.path }), 'sesn_foreign'];
    const [lostPath, prunedPath] = [await workspaces.open(lost), await workspaces.open(pruned)];
    expect(await findOrphanedWorktrees(dataDirectory)).toEqual([]);
    await rm(lostPath, { recursive: true });
    await rm(join(user.path, '.git/worktrees', pruned), { recursive: true });
    const foreignPath = join(dataDirectory, 'workspaces', foreign);
    user.git('worktree', 'add', '--quiet', '--detach', foreignPath);
    const repository = user.path;
    expect(new Set(await findOrphanedWorktrees(dataDirectory))).toEqual(
      new Set([
        { repository, workspace: lostPath, problem: 'its files are gone' },
        { repository, workspace: prunedPath, problem: 'the repository does not know it any more' },
        { repository, workspace: foreignPath, problem: 'no session has it' },
      ]),
    );
    // What the session needs is made again at its next use.
    expect(await workspaces.open(lost)).toBe(lostPath);
    expect(await readFile(join(lostPath, 'README.md'), 'utf8')).toBe('second\n');
    expect(await findOrphanedWorktrees(join(dataDirectory, 'missing'))).toEqual([]);
  }));

it('[WS459] doctor lists worktrees of threads that no session has, and that are half made', () =>
  withRepository(async (user) => {
    const { workspaces, add, dataDirectory } = await openTestWorkspaces(user);
    const directory = join(dataDirectory, 'workspaces');
    const known = await add({ path: user.path });
    await workspaces.open(known);
    for (const path of [`${known}.threads/sthr_1`, `${known}.threads/sthr_2`, 'sesn_gone.threads/sthr_3']) {
      await mkdir(join(directory, path), { recursive: true });
    }
    await writeFile(join(directory, `${known}.threads/sthr_1.json`), '{}');
    const found = await findOrphanedWorktrees(dataDirectory);
    expect(found.toSorted((one) => (one.workspace.includes('sesn_gone') ? -1 : 1))).toEqual([
      { repository: null, workspace: join(directory, 'sesn_gone.threads/sthr_3'), problem: 'no session has it' },
      {
        repository: null,
        workspace: join(directory, `${known}.threads/sthr_2`),
        problem: 'it is half made, by a server that was killed',
      },
    ]);
  }));

it('[WS33] a workspace on a directory that was moved, or is not allowed any more, cannot be opened', () =>
  withRepository(async (user) => {
    const { workspaces, add } = await openTestWorkspaces(user);
    const id = await add({ path: user.path, mode: 'in_place' });
    expect(await workspaces.open(id)).toBe(user.path);
    await rename(user.path, `${user.path}-moved`);
    await expect(workspaces.open(id)).rejects.toThrow(/was moved, or is not in a directory that this server allows/);
    await mkdir(join(user.outside, 'other/.fleetloom/session'), { recursive: true });
    await writeFile(join(user.outside, 'other/.fleetloom/session/secret'), 'secret');
    await symlink(join(user.outside, 'other'), user.path);
    await expect(workspaces.open(id)).rejects.toThrow(/was moved/);
    await workspaces.remove(id);
    expect(await readFile(join(user.outside, 'other/.fleetloom/session/secret'), 'utf8')).toBe('secret');
  }));
