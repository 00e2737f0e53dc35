import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workspaceLimits } from '../workspaces/limits.ts';
import { runUserGit, type UserRepository, withRepository } from '../workspaces/repository.suite.ts';
import { openTestWorkspaces } from './open-workspaces.suite.ts';

/** Makes the repository of a shape, and returns its path. */
const shapes: readonly [string, (user: UserRepository) => Promise<string>][] = [
  [
    'a linked worktree',
    async (user) => {
      user.git('worktree', 'add', '--quiet', '../linked', 'main~0', '--detach');
      return join(user.root, 'linked');
    },
  ],
  [
    'a shallow clone',
    async (user) => {
      runUserGit(user.root, ['clone', '--quiet', '--depth=1', `file://${user.path}`, 'shallow']);
      return join(user.root, 'shallow');
    },
  ],
  [
    'a clone with alternates',
    async (user) => {
      runUserGit(user.root, ['clone', '--quiet', '--shared', user.path, 'shared']);
      runUserGit(user.root, ['clone', '--quiet', '--shared', 'shared', 'again']);
      return join(user.root, 'again');
    },
  ],
  [
    'a SHA-256 repository',
    async (user) => {
      const path = join(user.root, 'sha256');
      await mkdir(join(path, 'src'), { recursive: true });
      runUserGit(path, ['init', '--quiet', '--object-format=sha256']);
      await writeFile(join(path, 'README.md'), 'second\n');
      await writeFile(join(path, 'src/main.ts'), 'export {};\n');
      runUserGit(path, ['add', '--all']);
      runUserGit(path, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--message=second']);
      return path;
    },
  ],
  [
    'a repository with a split index, packed refs and a detached HEAD',
    async (user) => {
      user.git('pack-refs', '--all');
      user.git('repack', '-adq');
      user.git('checkout', '--quiet', '--detach');
      user.git('update-index', '--split-index');
      return user.path;
    },
  ],
  ['a directory of a repository', async (user) => join(user.path, 'src')],
  [
    'a submodule',
    async (user) => {
      const path = join(user.root, 'super');
      await mkdir(path);
      runUserGit(path, ['init', '--quiet']);
      runUserGit(path, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', user.path, 'sub']);
      return join(path, 'sub');
    },
  ],
];

it.each(shapes)('[WS35] %s can be worked on in a worktree and in place', (_, make) =>
  withRepository(async (user) => {
    const path = await realpath(await make(user));
    const top = path.endsWith('/src') ? user.path : path;
    await writeFile(join(top, 'README.md'), 'uncommitted\n');
    await writeFile(join(top, 'untracked.txt'), 'untracked\n');
    const { workspaces, add, resourceOf } = await openTestWorkspaces(user);
    const plain = await add({ path });
    const workspace = await workspaces.open(plain);
    expect(await readFile(join(workspace, 'README.md'), 'utf8')).toBe('second\n');
    expect(await readFile(join(workspace, 'src/main.ts'), 'utf8')).toBe('export {};\n');
    expect(runUserGit(workspace, ['-c', 'safe.directory=*', 'status', '--short'])).toBe('');
    const carried = await workspaces.open(await add({ path, include_uncommitted: true }));
    expect(await readFile(join(carried, 'README.md'), 'utf8')).toBe('uncommitted\n');
    expect(existsSync(join(carried, 'untracked.txt'))).toBe(true);
    // The private git directory is complete: it knows the history, and what has changed.
    const source = await workspaces.sourceOf(plain);
    expect(source).toMatchObject({
      type: 'directory',
      mode: 'worktree',
      repository: { top, base: resourceOf(plain).commit },
    });
    const git = (await workspaces.mountsOf(plain)).writablePaths[0]!;
    const run = (...args: string[]) => runUserGit(workspace, [`--git-dir=${git}`, '--work-tree=.', ...args]);
    expect(run('status', '--short')).toBe('');
    expect(run('log', '--format=%s', '-1')).toBe('second');
    expect(run('fsck', '--no-dangling')).toBe('');
    expect(run('branch', '--show-current')).toBe(resourceOf(plain).branch);
    await workspaces.remove(plain);
    const inPlace = await add({ path, mode: 'in_place' });
    expect(await workspaces.open(inPlace)).toBe(path);
    await workspaces.remove(inPlace);
  }),
);

it.each([[], ['--sparse-index']])(
  '[WS456] a worktree of a sparse checkout has all files, and what the checkout leaves out is not an uncommitted removal',
  (...options) =>
    withRepository(async (user) => {
      await user.write('docs/guide.md', 'guide\n');
      user.git('add', 'docs');
      user.git('commit', '--quiet', '--message=docs');
      user.git('sparse-checkout', 'set', ...options, 'docs');
      await user.write('docs/guide.md', 'mine\n');
      const before = user.fingerprint();
      expect(existsSync(join(user.path, 'src'))).toBe(false);
      const { workspaces, add } = await openTestWorkspaces(user);
      for (const uncommitted of [false, true]) {
        const id = await add({ path: user.path, include_uncommitted: uncommitted });
        const workspace = await workspaces.open(id);
        expect([
          await readFile(join(workspace, 'src/main.ts'), 'utf8'),
          await readFile(join(workspace, 'docs/guide.md'), 'utf8'),
        ]).toEqual(['export {};\n', uncommitted ? 'mine\n' : 'guide\n']);
        await workspaces.remove(id);
      }
      expect(user.fingerprint()).toEqual(before);
    }),
);

it('[WS617] a partial clone without the files of the commit is an error with the command that fetches them, which works', () =>
  withRepository(async (user) => {
    user.git('config', 'uploadpack.allowFilter', 'true');
    runUserGit(user.root, ['clone', '--quiet', '--filter=blob:none', '--sparse', `file://${user.path}`, 'partial']);
    const path = join(user.root, 'partial');
    const { workspaces, add } = await openTestWorkspaces(user);
    const id = await add({ path });
    const failure: unknown = await workspaces.open(id).catch((error: unknown) => error);
    const [, command] = /: fetch them with `(git archive \w+) > \/dev\/null` in .*, or work/.exec(String(failure))!;
    expect(String(failure)).toContain(`${path} does not have all files of`);
    const inPlace = await add({ path, mode: 'in_place' });
    expect(await workspaces.open(inPlace)).toBe(path);
    runUserGit(path, command!.split(' ').slice(1));
    expect(await readFile(join(await workspaces.open(id), 'src/main.ts'), 'utf8')).toBe('export {};\n');
  }));

it('[WS618] a worktree has filtered files as they are committed, and with include_uncommitted as the user has them', () =>
  withRepository(async (user) => {
    // As Git LFS stores a pointer instead of the content.
    user.git('config', 'filter.lfs.clean', 'sed s/content/pointer/');
    user.git('config', 'filter.lfs.smudge', 'sed s/pointer/content/');
    await user.write('.gitattributes', '*.bin filter=lfs\n');
    await user.write('large.bin', 'content\n');
    user.git('add', '--all');
    user.git('commit', '--quiet', '--message=large');
    const { workspaces, add } = await openTestWorkspaces(user);
    const read = async (more: object) =>
      await readFile(join(await workspaces.open(await add({ path: user.path, ...more })), 'large.bin'), 'utf8');
    expect([await read({}), await read({ include_uncommitted: true })]).toEqual(['pointer\n', 'content\n']);
  }));

it('[WS608] include_uncommitted leaves out files that the user ignores in all repositories', () =>
  withRepository(async (user) => {
    const userHome = join(user.outside, 'home');
    await mkdir(userHome);
    await writeFile(join(userHome, '.gitconfig'), '[core]\n\texcludesFile = ~/.ignore\n');
    await writeFile(join(userHome, '.ignore'), '*.secret\n*.log\n');
    await user.write('.git/info/exclude', '!kept.log\n');
    for (const name of ['key.secret', 'kept.log', 'deep/key.secret', 'mine.txt']) await user.write(name, `${name}\n`);
    const { workspaces, add } = await openTestWorkspaces(user, { userHome });
    const workspace = await workspaces.open(await add({ path: user.path, include_uncommitted: true }));
    const names = ['key.secret', 'kept.log', 'deep', 'mine.txt'];
    expect(names.filter((name) => existsSync(join(workspace, name)))).toEqual(['kept.log', 'mine.txt']);
  }));

it('[WS455] uncommitted and included files whose names are not UTF-8 are refused with their names, and committed ones are in the worktree', () =>
  withRepository(async (user) => {
    const name = (text: string) => Buffer.concat([Buffer.from(join(user.path, text)), Buffer.from([0xe9])]);
    await writeFile(name('committed'), 'x');
    user.git('add', '--all');
    user.git('commit', '--quiet', '--message=bytes');
    const { workspaces, add } = await openTestWorkspaces(user);
    const workspace = await workspaces.open(await add({ path: user.path, include_uncommitted: true }));
    expect(readdirSync(workspace, 'buffer').map((entry) => entry.toString('latin1'))).toContain('committed\u00e9');
    await writeFile(name('caf'), 'x');
    await writeFile(name('src/th'), 'x');
    for (const params of [{ include_uncommitted: true }, { copy: ['caf*', 'th*'] }]) {
      const opened = workspaces.open(await add({ path: user.path, ...params }));
      await expect(opened).rejects.toThrow(/names are not UTF-8: caf\\xe9, src\/th\\xe9: rename or commit them/);
    }
    await workspaces.open(await add({ path: user.path }));
  }));

it.runIf(process.getuid?.() === 0)(
  '[WS38] a directory of another user of the machine is refused where it would be written to',
  () =>
    withRepository(async (user) => {
      const { workspaces, add } = await openTestWorkspaces(user);
      await chown(user.path, 12_345, 12_345);
      await expect(add({ path: user.path, mode: 'in_place' })).rejects.toThrow(/belongs to another user \(uid 12345\)/);
      await chown(join(user.path, '.git'), 12_345, 12_345);
      await expect(add({ path: user.path })).rejects.toThrow(/belongs to another user \(uid 12345\)/);
      const copy = await workspaces.open(await add({ path: user.path, mode: 'copy' }));
      expect(await readFile(join(copy, 'README.md'), 'utf8')).toBe('second\n');
    }),
);

it('[WS36] an agent sees up to 20,000 refs, and a repository has up to 16 object directories', () =>
  withRepository(async (user) => {
    const { workspaces, add } = await openTestWorkspaces(user);
    const commit = user.git('rev-parse', 'HEAD');
    const refs = Array.from(
      { length: workspaceLimits.refsMax + 5 },
      (_, index) => `${commit} refs/tags/t${String(index).padStart(6, '0')}\n`,
    );
    await writeFile(
      join(user.path, '.git/packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${refs.join('')}`,
    );
    const id = await add({ path: user.path });
    await workspaces.open(id);
    const packed = await readFile(join((await workspaces.mountsOf(id)).writablePaths[0]!, 'packed-refs'), 'utf8');
    // The header, and the branch of the session itself.
    expect(packed.trimEnd().split('\n')).toHaveLength(workspaceLimits.refsMax + 2);
    const chain = async (length: number) => {
      for (let index = 1; index <= length; index++) {
        const info = join(user.root, `objects-${index}`, 'info');
        await mkdir(info, { recursive: true });
        await writeFile(
          join(info, 'alternates'),
          index === length ? '' : `${join(user.root, `objects-${index + 1}`)}\n`,
        );
      }
      await writeFile(join(user.path, '.git/objects/info/alternates'), `${join(user.root, 'objects-1')}\n`);
    };
    await chain(workspaceLimits.alternatesMax - 1);
    await add({ path: user.path, mode: 'in_place' });
    await chain(workspaceLimits.alternatesMax);
    await expect(add({ path: user.path })).rejects.toThrow(/has too many alternates/);
  }));
