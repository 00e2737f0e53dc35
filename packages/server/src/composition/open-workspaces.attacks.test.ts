import { existsSync } from 'node:fs';
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUserGit, type UserRepository, withRepository } from '../workspaces/repository.suite.ts';
import { openTestWorkspaces, type TestWorkspaces } from './open-workspaces.suite.ts';

// Without a sandbox nothing but our settings keeps a program of the repository from running, so each attack is tried there too.
describe.each([
  ['in the sandbox', true],
  ['without a sandbox', false],
])('a hostile repository %s', (_, isSandboxed) => {
  const attack = (run: (user: UserRepository, test: TestWorkspaces) => Promise<void>) =>
    withRepository(async (user) => run(user, await openTestWorkspaces(user, { isSandboxed })));

  it('[WS20] no hook, filter, monitor, driver or helper of a repository runs when a worktree is created and removed, and the repository is as before', () =>
    attack(async (user, { workspaces, add }) => {
      const ran = join(user.outside, 'ran');
      const evil = join(user.root, 'evil.sh');
      await writeFile(evil, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat 2> /dev/null\nexit 0\n`, { mode: 0o755 });
      await user.write('.gitattributes', '* filter=evil diff=evil merge=evil\n*.md ident text eol=crlf\n');
      await user.write('data.bin', 'not text\n');
      user.git('add', '--all');
      user.git('commit', '--quiet', '--message=third');
      await writeFile(join(user.outside, 'included'), `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${user.root}\n`);
      await appendFile(join(user.path, '.git/config'), toHostileConfig(evil, user));
      await appendFile(
        join(user.path, '.git/config.worktree'),
        `[core]\n\tworktree = ${user.outside}\n\tfsmonitor = ${evil}\n`,
      );
      await mkdir(join(user.path, '.git/hooks'), { recursive: true });
      for (const hook of HOOKS) {
        await writeFile(join(user.path, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`);
        await chmod(join(user.path, '.git/hooks', hook), 0o755);
      }
      await user.write('README.md', 'uncommitted\n');
      await user.write('untracked.txt', 'untracked\n');
      await user.write('node_modules/a.js', 'a\n');
      const before = user.fingerprint();
      const outside = await readdir(user.outside);

      const id = await add({ path: user.path, include_uncommitted: true, copy: ['node_modules/'] });
      const workspace = await workspaces.open(id);
      expect(await readFile(join(workspace, 'README.md'), 'utf8')).toBe('uncommitted\n');
      expect(await readFile(join(workspace, 'data.bin'), 'utf8')).toBe('not text\n');
      expect(await readFile(join(workspace, 'untracked.txt'), 'utf8')).toBe('untracked\n');
      expect(await readFile(join(workspace, 'node_modules/a.js'), 'utf8')).toBe('a\n');
      expect(user.fingerprint(OURS)).toEqual(before);
      await workspaces.remove(id);
      expect(user.fingerprint()).toEqual(before);
      for (const mode of ['copy', 'in_place'] as const) {
        const other = await add({ path: user.path, mode });
        await workspaces.open(other);
        await workspaces.remove(other);
        expect(user.fingerprint()).toEqual(before);
      }
      expect(await readdir(user.outside)).toEqual(outside);
    }));

  it('[WS21] an object that is missing is not fetched, whatever protocol the repository allows for its promisor', () =>
    attack(async (user, { workspaces, add }) => {
      const ran = join(user.outside, 'ran');
      const blob = user.git('rev-parse', 'HEAD:README.md');
      await rm(join(user.path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
      user.git('config', 'core.repositoryformatversion', '1');
      user.git('config', 'extensions.partialClone', 'origin');
      user.git('config', 'remote.origin.promisor', 'true');
      user.git('config', 'remote.origin.url', `ext::sh -c 'echo ran >> ${ran}'`);
      user.git('config', 'protocol.ext.allow', 'always');
      const id = await add({ path: user.path });
      await expect(workspaces.open(id)).rejects.toThrow(/does not have all files of/);
      expect(existsSync(ran)).toBe(false);
      // Nothing of the attempt is left.
      expect(user.git('worktree', 'list').split('\n')).toHaveLength(1);
      expect(user.git('branch', '--list', 'fleetloom/*')).toBe('');
    }));

  it('[WS22] a repository that refers to something outside of the allowed directories is refused, by alternates, .git files, commondir and links', () =>
    attack(async (user, { add }) => {
      const foreign = join(user.outside, 'foreign');
      await mkdir(foreign);
      runUserGit(foreign, ['clone', '--quiet', user.path, '.']);
      const git = join(user.path, '.git');
      const refusal = async (path = user.path) =>
        await add({ path, mode: 'worktree' }).then(
          () => 'accepted',
          (error: Error) => error.message,
        );
      const elsewhere = /--allow-directory/;

      await writeFile(join(git, 'objects/info/alternates'), `${foreign}/.git/objects\n`);
      expect(await refusal()).toMatch(elsewhere);
      await writeFile(join(git, 'objects/info/alternates'), `../../../../outside/foreign/.git/objects\n`);
      expect(await refusal()).toMatch(elsewhere);
      await rm(join(git, 'objects/info/alternates'));
      await writeFile(join(user.outside, 'alternates'), `${foreign}/.git/objects\n`);
      await symlink(join(user.outside, 'alternates'), join(git, 'objects/info/alternates'));
      expect(await refusal()).toMatch(/is a symbolic link/);
      await rm(join(git, 'objects/info/alternates'));

      for (const part of ['objects', 'objects/pack', 'refs', 'info', 'config', 'HEAD', 'index']) {
        await rename(join(git, part), join(git, `${part}-before`));
        await symlink(join(foreign, '.git', part), join(git, part));
        expect(await refusal(), part).toMatch(elsewhere);
        await rm(join(git, part));
        await rename(join(git, `${part}-before`), join(git, part));
      }
      await writeFile(join(git, 'commondir'), `${foreign}/.git\n`);
      expect(await refusal()).toMatch(elsewhere);
      await rm(join(git, 'commondir'));

      const other = join(user.root, 'other');
      await mkdir(other);
      await writeFile(join(other, '.git'), `gitdir: ${foreign}/.git\n`);
      expect(await refusal(other)).toMatch(elsewhere);
      await writeFile(join(other, '.git'), 'gitdir: ../../outside/foreign/.git\n');
      expect(await refusal(other)).toMatch(elsewhere);
      await rm(join(other, '.git'));
      await symlink(join(foreign, '.git'), join(other, '.git'));
      expect(await refusal(other)).toMatch(elsewhere);
      expect(await refusal()).toBe('accepted');
      await rename(git, join(user.root, 'moved-git'));
      await symlink(join(user.root, 'moved-git'), git);
      await expect(add({ path: user.path, mode: 'in_place' })).rejects.toThrow(/\.git is a symbolic link/);
    }));

  it('[WS23] links in a repository are links in its worktree, and nothing is written through them', () =>
    attack(async (user, { workspaces, add }) => {
      await writeFile(join(user.outside, 'secret'), 'secret\n');
      await symlink(user.outside, join(user.path, 'vendor'));
      await symlink(join(user.outside, 'secret'), join(user.path, 'leak'));
      user.git('add', '--all');
      user.git('commit', '--quiet', '--message=links');
      const id = await add({ path: user.path });
      const workspace = await workspaces.open(id);
      expect(await readlink(join(workspace, 'vendor'))).toBe(user.outside);
      expect(await readlink(join(workspace, 'leak'))).toBe(join(user.outside, 'secret'));

      // The user has a directory where the commit has a link that leads out.
      await rm(join(user.path, 'vendor'));
      await user.write('vendor/planted', 'planted\n');
      await user.write('vendor/.env', 'planted\n');
      const other = await add({ path: user.path, include_uncommitted: true, copy: ['vendor/'] });
      await workspaces.open(other).catch(() => undefined);
      expect(await readdir(user.outside)).toEqual(['secret']);

      user.git('checkout', '--quiet', '--force', '--', '.');
      await symlink(user.outside, join(user.path, '.fleetloom'));
      user.git('add', '--force', '.fleetloom');
      user.git('commit', '--quiet', '--message=own');
      for (const mode of ['worktree', 'in_place'] as const) {
        const own = await add({ path: user.path, mode });
        await expect(workspaces.open(own)).rejects.toThrow(/is where the files of a session are kept/);
        await workspaces.remove(own);
      }
      expect(await readdir(user.outside)).toEqual(['secret']);
    }));

  it('[WS24] a directory that is exchanged for a link while it is copied does not lead out', () =>
    attack(async (user, { workspaces, add, dataDirectory }) => {
      const source = join(user.root, 'plain');
      await mkdir(join(source, 'a'), { recursive: true });
      for (let count = 0; count < 50; count++) await writeFile(join(source, 'a', `f${count}`), 'inside');
      for (let count = 0; count < 50; count++) await writeFile(join(user.outside, `f${count}`), 'secret');
      const over = new AbortController();
      const swapping = (async () => {
        while (!over.signal.aborted) {
          await rename(join(source, 'a'), join(user.root, 'aside'));
          await symlink(user.outside, join(source, 'a'));
          await rm(join(source, 'a'));
          await rename(join(user.root, 'aside'), join(source, 'a'));
        }
      })();
      try {
        for (let count = 0; count < 15; count++) {
          const id = await add({ path: source, mode: 'copy' });
          const workspace = await workspaces.open(id);
          const copied = join(workspace, 'a');
          const stats = await lstat(copied).catch(() => undefined);
          if (!stats?.isDirectory()) continue;
          for (const name of await readdir(copied)) expect(await readFile(join(copied, name), 'utf8')).toBe('inside');
        }
      } finally {
        over.abort();
        await swapping;
      }
      expect(existsSync(join(dataDirectory, 'workspaces'))).toBe(true);
    }));

  it('[WS25] submodules are neither fetched nor entered, whatever their URLs and paths are', () =>
    attack(async (user, { workspaces, add }) => {
      const ran = join(user.outside, 'ran');
      const commit = user.git('rev-parse', 'HEAD');
      await user.write(
        '.gitmodules',
        [
          `[submodule "a"]\n\tpath = a\n\turl = ext::sh -c 'echo ran >> ${ran}'\n\tupdate = !echo ran >> ${ran}\n`,
          `[submodule "../../outside"]\n\tpath = b\n\turl = -u./evil\n`,
        ].join(''),
      );
      user.git('add', '.gitmodules');
      for (const path of ['a', 'b']) user.git('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
      user.git('commit', '--quiet', '--message=submodules');
      user.git('config', 'submodule.recurse', 'true');
      user.git('config', 'submodule.a.update', `!echo ran >> ${ran}`);
      const id = await add({ path: user.path });
      const workspace = await workspaces.open(id);
      expect(await readdir(join(workspace, 'a'))).toEqual([]);
      expect(existsSync(ran)).toBe(false);
      await workspaces.remove(id);
    }));

  it('[WS601] nothing of a submodule that is checked out runs, and its files are not carried over', () =>
    attack(async (user, { workspaces, add }) => {
      const ran = join(user.outside, 'ran');
      const evil = join(user.root, 'evil.sh');
      await writeFile(evil, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat 2> /dev/null\nexit 0\n`, { mode: 0o755 });
      const library = join(user.root, 'library');
      runUserGit(user.root, ['clone', '--quiet', user.path, library]);
      user.git('submodule', '--quiet', 'add', library, 'sub');
      user.git('commit', '--quiet', '--message=submodule');
      await appendFile(join(user.path, '.git/modules/sub/config'), toHostileConfig(evil, user));
      await user.write('sub/.gitattributes', '* filter=evil diff=evil merge=evil\n');
      await user.write('sub/README.md', 'changed\n');
      await user.write('README.md', 'uncommitted\n');
      const id = await add({ path: user.path, include_uncommitted: true });
      const workspace = await workspaces.open(id);
      expect(await readFile(join(workspace, 'README.md'), 'utf8')).toBe('uncommitted\n');
      expect(await readdir(join(workspace, 'sub'))).toEqual([]);
      expect(existsSync(ran)).toBe(false);
      await workspaces.remove(id);
      expect(existsSync(ran)).toBe(false);
    }));

  it('[WS26] names of files and branches are only names', () =>
    attack(async (user, { workspaces, add }) => {
      const names = [
        'new\nline',
        '--force',
        '-rf',
        'quo"te',
        "it's",
        '$(touch ran)',
        '*',
        'ünï',
        ' ',
        '\\back',
        'tab\t',
        ':(glob)x',
      ];
      for (const name of names) await user.write(name, `${name}\n`);
      user.git('add', '--all');
      user.git('commit', '--quiet', '--message=names');
      for (const name of names) await user.write(name, 'changed\n');
      await user.write('dir\n/--x', 'untracked\n');
      for (const branch of ['a"b', 'ünï', "it's", '$(ran)']) user.git('branch', branch);
      const id = await add({ path: user.path, include_uncommitted: true, base: 'a"b' });
      const workspace = await workspaces.open(id);
      for (const name of names) expect(await readFile(join(workspace, name), 'utf8')).toBe('changed\n');
      expect(await readFile(join(workspace, 'dir\n/--x'), 'utf8')).toBe('untracked\n');
      expect(existsSync(join(workspace, 'ran'))).toBe(false);
      await workspaces.remove(id);
    }));
});

const OURS = ['.git/worktrees', '.git/refs/heads/fleetloom'];

const HOOKS = (
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit ' +
  'pre-rebase post-checkout post-merge pre-push pre-receive update post-receive post-update reference-transaction ' +
  'push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change'
).split(' ');

/** Every setting that names a program, and some that name files. */
function toHostileConfig(evil: string, user: UserRepository): string {
  return `
[core]
	hooksPath = ${user.path}/.git/hooks
	fsmonitor = ${evil}
	sshCommand = ${evil}
	pager = ${evil}
	editor = ${evil}
	askPass = ${evil}
	gitProxy = ${evil}
	alternateRefsCommand = ${evil}
	attributesFile = ${user.root}/attributes
	untrackedCache = true
[filter "evil"]
	smudge = ${evil}
	clean = ${evil}
	process = ${evil}
	required = true
[diff]
	external = ${evil}
[diff "evil"]
	command = ${evil}
	textconv = ${evil}
[merge "evil"]
	driver = ${evil}
[credential]
	helper = !${evil}
[gpg]
	program = ${evil}
[commit]
	gpgSign = true
[sequence]
	editor = ${evil}
[interactive]
	diffFilter = ${evil}
[alias]
	worktree = !${evil}
	read-tree = !${evil}
[include]
	path = ${user.outside}/included
[includeIf "gitdir:/"]
	path = ${user.outside}/included
[extensions]
	worktreeConfig = true
[remote "origin"]
	url = ext::${evil}
	uploadpack = ${evil}
	vcs = evil
[protocol]
	allow = always
[protocol "ext"]
	allow = always
`;
}
