import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workspaceLimits } from '../workspaces/limits.ts';
import { runUserGit, withRepository } from '../workspaces/repository.suite.ts';
import { findOrphanedWorktrees } from '../workspaces/sources/find-orphans.ts';
import { openTestWorkspaces } from './open-workspaces.suite.ts';

it('[WS401] a pipe in the place of `gitdir` of a worktree blocks neither the removal of its session nor the search for orphans', () =>
  withRepository(async (user) => {
    const { workspaces, add, dataDirectory } = await openTestWorkspaces(user);
    const id = await add({ path: user.path });
    await workspaces.open(id);
    const entries = join(user.path, '.git/worktrees');
    await mkdir(join(entries, 'other'));
    execFileSync('mkfifo', [join(entries, 'other/gitdir')]);
    expect(await findOrphanedWorktrees(dataDirectory)).toEqual([]);
    await rm(join(entries, 'other'), { recursive: true });
    await rm(join(entries, id, 'gitdir'));
    execFileSync('mkfifo', [join(entries, id, 'gitdir')]);
    await workspaces.remove(id);
    expect(existsSync(entries)).toBe(false);
  }));

const MODES = ['worktree', 'copy', 'in_place', 'read_only'] as const;

it('[WS402, WS454] a git directory, a directory in one and a bare repository are refused in every mode, the last one with what to do', () =>
  withRepository(async (user) => {
    const { add } = await openTestWorkspaces(user);
    await mkdir(join(user.root, 'other/.GIT/hooks'), { recursive: true });
    await mkdir(join(user.root, 'bare'));
    runUserGit(join(user.root, 'bare'), ['init', '--quiet', '--bare']);
    await mkdir(join(user.root, 'bare/hooks'), { recursive: true });
    user.git('worktree', 'add', '--quiet', '../linked');
    for (const inside of ['project/.git', 'project/.git/hooks', 'other/.GIT/hooks', 'bare', 'bare/hooks']) {
      for (const mode of MODES) {
        await expect(add({ path: join(user.root, inside), mode })).rejects.toThrow(/which agents must not change/);
      }
      await expect(add({ path: join(user.root, inside) })).rejects.toThrow(
        /is (inside of )?a (git directory|bare repository)/,
      );
    }
    const bare = join(user.root, 'bare');
    await expect(add({ path: bare })).rejects.toThrow(
      `is a bare repository, which agents must not change: add a worktree to it (git -C ${bare} worktree add <directory>)`,
    );
    await expect(add({ path: bare })).rejects.toThrow(`git_repository with the URL file://${bare}`);
    await add({ path: join(user.root, 'linked') });
  }));

it('[WS405] git directories are covered up to a number, and a link named `.git` cannot be', () =>
  withRepository(async (user) => {
    const { workspaces, add } = await openTestWorkspaces(user);
    const many = join(user.root, 'many');
    // Each is two entries: the repository and its git directory.
    const count = workspaceLimits.coveredEntriesMax / 2;
    for (let at = 0; at < count; at++) await mkdir(join(many, `r${at}/.git`), { recursive: true });
    const id = await add({ path: many, mode: 'in_place' });
    await workspaces.open(id);
    expect((await workspaces.mountsOf(id)).covers).toHaveLength(workspaceLimits.coveredEntriesMax);
    await workspaces.remove(id);
    await writeFile(join(many, '.git'), 'not a pointer');
    await expect(add({ path: many, mode: 'in_place' })).rejects.toThrow(/257 paths to cover, at most 256/);
    await add({ path: many, mode: 'copy' });
    const linked = join(user.root, 'linked');
    await mkdir(join(linked, 'a'), { recursive: true });
    await symlink(join(user.path, '.git'), join(linked, 'a/.git'));
    await expect(add({ path: linked, mode: 'in_place' })).rejects.toThrow(/has a\/\.git, which is neither/);
  }));

it('[WS407] a copy has the configuration of git without credentials, and works', () =>
  withRepository(async (user) => {
    const { workspaces, add } = await openTestWorkspaces(user);
    await mkdir(join(user.path, 'inner'));
    runUserGit(join(user.path, 'inner'), ['init', '--quiet']);
    const secrets = `[remote "origin"] url = https://ada:SECRET@git.example/a.git?key=SECRET
[remote "origin"]
\tpushurl = "https://SECRET@git.example/a.git"
[url "https://x:SECRET@git.example/"]
\tinsteadOf = gh:
[http "https://git.example/"]
\textraHeader = Authorization: \\
SECRET
\tproxy = http://ada:SECRET@proxy.example:8080
[credential] helper = "!echo SECRET"
[Credential "https://git.example"]
\tusername = SECRET
[credential.old]
\tusername = SECRET
[sendemail]
\tsmtpPass = SECRET
[alias]
\tst = status
`;
    const configs = [
      '.git/config',
      '.git/config.worktree',
      '.git/modules/a/config',
      'inner/.git/config',
      'bare/config',
    ];
    runUserGit(user.path, ['init', '--quiet', '--bare', 'bare']);
    await mkdir(join(user.path, '.git/modules/a'), { recursive: true });
    for (const path of configs) await appendFile(join(user.path, path), secrets);
    await user.write('config', 'https://ada:SECRET@git.example');
    await user.write('.git/modules/large/config', '#'.repeat(workspaceLimits.gitConfigBytesMax + 1));
    await user.write('.git/modules/full/config', '#'.repeat(workspaceLimits.gitConfigBytesMax));
    const id = await add({ path: user.path, mode: 'copy' });
    const workspace = await workspaces.open(id);
    for (const path of configs) expect(await readFile(join(workspace, path), 'utf8')).not.toContain('SECRET');
    expect(await readFile(join(workspace, 'config'), 'utf8')).toContain('SECRET');
    expect(existsSync(join(workspace, '.git/modules/large/config'))).toBe(false);
    expect(existsSync(join(workspace, '.git/modules/full/config'))).toBe(true);
    const get = (key: string) => runUserGit(workspace, ['config', '--file', '.git/config', key]);
    expect(get('remote.origin.url')).toBe('https://git.example/a.git');
    expect(get('remote.origin.pushurl')).toBe('https://git.example/a.git');
    expect(get('http.https://git.example/.proxy')).toBe('http://proxy.example:8080');
    expect([get('url.https://git.example/.insteadof'), get('alias.st'), get('user.name')]).toEqual([
      'gh:',
      'status',
      'Ada',
    ]);
  }));

it('[WS702] agents can commit in a copy of a repository that has no author of its own', () =>
  withRepository(async (user) => {
    user.git('config', '--remove-section', 'user');
    const { workspaces, add } = await openTestWorkspaces(user);
    const workspace = await workspaces.open(await add({ path: user.path, mode: 'copy' }));
    const run = (...args: string[]) => runUserGit(workspace, ['-c', 'safe.directory=*', ...args]);
    run('commit', '--quiet', '--allow-empty', '--message=work');
    expect(run('log', '-1', '--format=%an %ae')).toBe('Fleetloom agent agent@fleetloom.invalid');
  }));
