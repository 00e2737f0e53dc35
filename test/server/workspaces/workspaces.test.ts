import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DirectoryResource, DirectoryResourceParams } from '@fleetloom/protocol/managed-agents';
import { APIError, toFile } from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { type TestServer, toScript, withServer } from '../server.suite.ts';
import { workspaceLimits } from '../../../packages/server/src/workspaces/limits.ts';
import {
  runUserGit,
  type UserRepository,
  withRepository,
} from '../../../packages/server/src/workspaces/repository.suite.ts';

const bash = (command: string) => [{ call: 'bash', input: { command } }];
const done = [{ say: 'done' }];

it("[WS1, WS460] a session on a git repository works in a worktree on a branch of its own, and the user's files, index, refs, stash and config stay as they are", () =>
  withUser(async (test, user) => {
    await user.write('README.md', 'uncommitted\n');
    const before = user.fingerprint();
    const script = [
      bash(
        'echo changed > README.md; echo new > added.txt; git status --short; git log --format=%s; git branch --show-current',
      ),
      done,
    ];
    const { id, resource } = await create(test, script, { path: user.path }, 'Fix the Tests!');
    const commit = user.git('rev-parse', 'HEAD');
    expect(resource).toMatchObject({ mode: 'worktree', path: user.path, commit, base: null, mount_path: '/workspace' });
    // Without the title, which other workspaces that use the repository must not see.
    expect(resource.branch).toBe(`fleetloom/${id.slice(-8).toLowerCase()}`);
    const [result] = await runTurn(test, id);
    expect(result).toBe([' M README.md', '?? added.txt', 'second', 'first', resource.branch].join('\n'));
    const workspace = join(test.directory, 'workspaces', id);
    expect(await readFile(join(workspace, 'README.md'), 'utf8')).toBe('changed\n');
    // The user's own git sees the worktree, with what was changed in it.
    expect(runUserGit(workspace, ['status', '--short'])).toBe(' M README.md\n?? added.txt');
    expect(user.git('rev-parse', resource.branch!)).toBe(commit);
    const ours = [`.git/worktrees`, `.git/refs/heads/fleetloom`];
    expect(user.fingerprint(ours)).toEqual(before);
    await test.client.beta.sessions.delete(id);
    await expect.poll(() => existsSync(workspace)).toBe(false);
    await expect.poll(() => user.fingerprint()).toEqual(before);
    expect(user.git('worktree', 'list').split('\n')).toHaveLength(1);
  }));

it("[WS2] an agent can commit in its worktree, with the user as the author, and the user's repository does not get the commit", () =>
  withUser(async (test, user) => {
    user.git('remote', 'add', 'origin', 'https://ada:token@git.example.com/project.git');
    const before = user.fingerprint();
    const commands =
      'echo x > x.txt && git add x.txt && git commit -qm third && git log --format="%an %s" -1 && git remote get-url origin; git tag; git branch --list other; git stash list; ls .git; cat .git';
    const { id, resource } = await create(test, [bash(commands), done], { path: user.path });
    const [result] = await runTurn(test, id);
    const privateGit = join(test.directory, 'workspaces-git', id, 'git');
    expect(result!.split('\n')).toEqual([
      'Ada third',
      'https://git.example.com/project.git',
      'v1',
      '  other',
      '.git',
      `gitdir: ${privateGit}`,
    ]);
    expect(user.git('rev-parse', resource.branch!)).toBe(user.git('rev-parse', 'main'));
    expect(user.fingerprint([`.git/worktrees`, `.git/refs/heads/fleetloom`])).toEqual(before);
  }));

it('[WS3] base selects the commit of a worktree, and what is not a commit is refused with its name', () =>
  withUser(async (test, user) => {
    const { id, resource } = await create(test, [bash('cat README.md; git log --format=%s'), done], {
      path: user.path,
      base: 'v1',
    });
    expect(resource).toMatchObject({ base: 'v1', commit: user.git('rev-parse', 'v1^{commit}') });
    expect(await runTurn(test, id)).toEqual(['first\nfirst']);
    for (const base of ['nowhere', 'HEAD~9', ':README.md', 'HEAD:README.md', 'v1 --exec=x']) {
      expect(await refusalOf(create(test, [done], { path: user.path, base }))).toMatch(/^400 base: .* is not a commit/);
    }
    expect(await refusalOf(create(test, [done], { path: user.path, base: '--help' }))).toMatch(/^400 .*base/);
    expect(await refusalOf(create(test, [done], { path: user.path, base: 'a\nb' }))).toMatch(/^400 .*base/);
  }));

it('[WS4] include_uncommitted carries tracked and untracked changes over to a worktree, and not ignored files', () =>
  withUser(async (test, user) => {
    await user.write('README.md', 'uncommitted\n');
    await user.write('staged.txt', 'staged\n');
    user.git('add', 'staged.txt');
    await user.write('deep/er/untracked.txt', 'untracked\n');
    await user.write('node_modules/a/index.js', 'ignored\n');
    await rm(join(user.path, 'src'), { recursive: true });
    const before = user.fingerprint();
    const list = bash(
      'git status --short --untracked-files=all; cat README.md staged.txt deep/er/untracked.txt; ls -A',
    );
    const { id } = await create(test, [list, done], { path: user.path, include_uncommitted: true });
    const [result] = await runTurn(test, id);
    expect(result!.split('\n')).toEqual([
      ' M README.md',
      ' D src/main.ts',
      '?? deep/er/untracked.txt',
      '?? staged.txt',
      'uncommitted',
      'staged',
      'untracked',
      '.fleetloom',
      '.git',
      '.gitignore',
      'README.md',
      'deep',
      'staged.txt',
    ]);
    expect(user.fingerprint([`.git/worktrees`, `.git/refs/heads/fleetloom`])).toEqual(before);
  }));

it('[WS5] patterns of .worktreeinclude and of copy copy ignored files to a worktree, without following links', () =>
  withUser(async (test, user) => {
    await user.write('.worktreeinclude', '# what the project needs\n.env\n');
    await user.write('node_modules/a/index.js', 'a\n');
    await user.write('node_modules/b/.env', 'nested\n');
    await user.write('dist/out.js', 'out\n');
    await writeFile(join(user.outside, 'secret'), 'secret');
    await symlink(user.outside, join(user.path, 'node_modules/link'));
    const list = bash(
      'find . -path ./.git -prune -o -path ./.fleetloom -prune -o ! -type d -print | sort; readlink node_modules/link; cat node_modules/link/secret || true',
    );
    const { id } = await create(test, [list, done], { path: user.path, copy: ['/node_modules/'] });
    const [result] = await runTurn(test, id);
    expect(result!.split('\n')).toEqual([
      './.env',
      './.gitignore',
      './README.md',
      './node_modules/a/index.js',
      './node_modules/b/.env',
      './node_modules/link',
      './src/main.ts',
      user.outside,
      expect.stringContaining('No such file'),
    ]);
  }));

it('[WS6] a directory that is not in a git repository is copied by default, with links and modes as they are', () =>
  withUser(async (test, user) => {
    const plain = join(user.root, 'plain');
    await mkdir(join(plain, 'a/b'), { recursive: true });
    await writeFile(join(plain, 'a/b/run.sh'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
    await symlink('../a/b/run.sh', join(plain, 'a/link'));
    await symlink(user.outside, join(plain, 'out'));
    execFileSync('mkfifo', [join(plain, 'pipe')]);
    const script = [bash('./a/b/run.sh; readlink a/link out; ls; echo changed > a/b/run.sh'), done];
    const { id, resource } = await create(test, script, { path: plain });
    expect(resource).toMatchObject({ mode: 'copy', commit: null, branch: null });
    expect(await runTurn(test, id)).toEqual([`ran\n../a/b/run.sh\n${user.outside}\na\nout`]);
    expect(await readFile(join(plain, 'a/b/run.sh'), 'utf8')).toBe('#!/bin/sh\necho ran\n');
    expect((await readdir(plain)).sort()).toEqual(['a', 'out', 'pipe']);
  }));

it('[WS7] in_place works on the directory itself, and a second session gets an error that names the first, also after a restart', () =>
  withUser(async (test, user) => {
    const script = [
      bash(
        'echo edited > README.md; git status --short; echo x > .git/hooks/post-commit; git commit -qam third 2> /dev/null; git log --format=%s -1',
      ),
      done,
    ];
    const { id, resource } = await create(test, script, { path: user.path, mode: 'in_place' });
    expect(resource).toMatchObject({ mode: 'in_place', branch: null });
    const before = user.fingerprint(['README.md', '.fleetloom']);
    expect(await runTurn(test, id)).toEqual([' M README.md\nthird']);
    expect(await readFile(join(user.path, 'README.md'), 'utf8')).toBe('edited\n');
    // The user's git directory is not what agents see: neither hooks nor commits get there.
    expect(user.fingerprint(['README.md', '.fleetloom'])).toEqual(before);
    expect(user.git('status', '--short')).toBe(' M README.md');
    const later = await test.restart();
    const second = () => create(later, [done], { path: join(user.path, 'src'), mode: 'in_place' });
    expect(await refusalOf(second())).toMatch(new RegExp(`^409 path: ${id} works on`));
    await create(later, [done], { path: user.path, mode: 'worktree' });
    await later.client.beta.sessions.archive(id);
    const { id: third } = await second();
    await later.client.beta.sessions.delete(third);
    await later.client.beta.sessions.delete(id);
    await expect.poll(() => existsSync(join(user.path, '.fleetloom'))).toBe(false);
    expect(await readFile(join(user.path, 'README.md'), 'utf8')).toBe('edited\n');
  }));

it("[WS403] in_place on a directory around repositories shows nothing of their git directories and changes nothing in them, and an agent's own repository works in every turn", () =>
  withUser(async (test, user) => {
    user.git('remote', 'add', 'origin', 'https://ada:token@git.example.com/project.git');
    runUserGit(user.root, ['clone', '--quiet', '--bare', user.path, 'bare']);
    const before = user.fingerprint();
    const attacks = [
      'cat project/.git/config || cat bare/config',
      'echo evil > project/.git/hooks/pre-commit',
      'echo evil > bare/hooks/post-update',
      'rm -r project/.git',
      'mv project/.git away',
      'mv project away',
      'mv bare away',
    ];
    const attack = bash(toAttempts(attacks));
    const own = bash(
      'git init -q own 2>&1; (cd own && touch .git/mark && git rev-parse --git-dir); echo x > project/x',
    );
    const script = [attack, own, done, own, attack, done];
    const { id } = await create(test, script, { path: user.root, mode: 'in_place' });
    expect(await runTurn(test, id)).toEqual(['(no output)', '.git']);
    const later = await test.restart();
    expect((await runTurn(later, id)).slice(2)).toEqual([expect.stringMatching(/(^|\n)\.git$/), '(no output)']);
    expect(user.fingerprint(['x'])).toEqual(before);
    expect(await readFile(join(user.path, 'x'), 'utf8')).toBe('x\n');
    expect(existsSync(join(user.root, 'bare/hooks/post-update'))).toBe(false);
  }));

it('[WS404] the .git file of a submodule can be neither changed nor replaced in place', () =>
  withUser(async (test, user) => {
    runUserGit(user.root, ['clone', '--quiet', user.path, 'library']);
    user.git('submodule', '--quiet', 'add', '../library', 'deep/sub');
    user.git('commit', '--quiet', '--message=submodule');
    const attacks = [
      'echo evil > deep/sub/.git',
      'rm deep/sub/.git',
      'mv deep/sub/.git deep/sub/x',
      'mv deep/sub deep/x',
      'mv deep x',
    ];
    const script = [bash(`${toAttempts(attacks)}; cat deep/sub/.git`), bash('echo edited > deep/sub/README.md'), done];
    const { id } = await create(test, script, { path: user.path, mode: 'in_place' });
    const pointer = 'gitdir: ../../.git/modules/deep/sub';
    expect((await runTurn(test, id))[0]).toBe(pointer);
    expect((await readFile(join(user.path, 'deep/sub/.git'), 'utf8')).trim()).toBe(pointer);
    expect(await readFile(join(user.path, 'deep/sub/README.md'), 'utf8')).toBe('edited\n');
  }));

it('[WS7, WS30] a session that could not be created holds nothing, and what a killed server left of one is removed at the next start', () =>
  withUser(async (test, user) => {
    const before = user.fingerprint();
    const directory = { type: 'directory', path: user.path, mode: 'in_place' };
    const missing = createWith(test, [done], [directory, { type: 'file', file_id: 'file_missing' }] as never[]);
    expect(await refusalOf(missing)).toMatch(/^404 /);
    const { id } = await create(test, [done], { path: user.path, mode: 'in_place' });
    await test.client.beta.sessions.delete(id);
    await expect.poll(() => user.fingerprint()).toEqual(before);

    // As a server leaves it that is killed after the worktree was added and before the session was stored.
    const workspace = join(test.directory, 'workspaces', 'sesn_unmade');
    user.git('worktree', 'add', '--quiet', '-b', 'fleetloom/unmade', workspace);
    const commonDirectory = join(user.path, '.git');
    const repository = {
      top: user.path,
      gitDirectory: commonDirectory,
      commonDirectory,
      objects: [join(commonDirectory, 'objects')],
      objectFormat: 'sha1',
      base: user.git('rev-parse', 'HEAD'),
      branch: 'fleetloom/unmade',
    };
    const source = { type: 'directory', mode: 'worktree', path: user.path, workspace, repository };
    const record = join(test.directory, 'workspace-sources', 'sesn_unmade.json');
    await mkdir(dirname(record), { recursive: true });
    await writeFile(record, JSON.stringify({ state: 'creating', source, setup: null }));
    await test.restart();
    await expect.poll(() => existsSync(record), { timeout: 10_000 }).toBe(false);
    expect(existsSync(workspace)).toBe(false);
    const isReflog = ['.git/logs'];
    expect(user.fingerprint(isReflog)).toEqual(
      Object.fromEntries(Object.entries(before).filter(([path]) => !path.startsWith('.git/logs/'))),
    );
  }));

it('[WS8] read_only shows the directory without write access, and takes neither files nor a setup command', () =>
  withUser(async (test, user) => {
    const before = user.fingerprint();
    const script = [bash('cat README.md; echo x > README.md; touch new; git log --format=%s -1'), done];
    const { id } = await create(test, script, { path: user.path, mode: 'read_only' });
    const [result] = await runTurn(test, id);
    expect(result).toMatch(/^second\n.*Read-only file system\n.*Read-only file system\nsecond/);
    expect(user.fingerprint()).toEqual(before);
    const setup = create(test, [done], { path: user.path, mode: 'read_only', setup: 'true' });
    expect(await refusalOf(setup)).toMatch(/^400 setup: /);
    const file = await test.client.beta.files.upload({ file: await toFile(Buffer.from('x'), 'x.txt') });
    const mount = test.client.beta.sessions.resources.add(id, { type: 'file', file_id: file.id });
    expect(await refusalOf(mount)).toMatch(/^400 resources: nothing can be mounted/);
    await test.client.beta.sessions.delete(id);
    expect(user.fingerprint()).toEqual(before);
  }));

it('[WS9] a setup command runs once in the sandbox before the first command, and its failure fails the session', () =>
  withUser(async (test, user) => {
    const script = [bash('cat log'), bash('cat log'), done];
    const { id } = await create(test, script, {
      path: user.path,
      setup: 'pwd >> log; touch /etc/x 2>/dev/null || echo sandboxed >> log',
    });
    const log = expect.stringMatching(/^\/.*\nsandboxed$/);
    expect(await runTurn(test, id)).toEqual([log, log]);
    const failing = await create(test, [bash('echo ran'), done], { path: user.path, setup: 'echo no luck; exit 3' });
    expect(await runTurn(test, failing.id, 'terminated')).toEqual([]);
    const errors: string[] = [];
    for await (const event of test.client.beta.sessions.events.list(failing.id)) {
      if (event.type === 'session.error') errors.push(event.error.message);
    }
    expect(errors).toEqual([expect.stringMatching(/`echo no luck; exit 3`.*(exit code|code) 3/s)]);
    expect(errors[0]).toContain('no luck');
  }));

it('[WS10, WS458] only directories below allowed roots can be used, by their real paths, and the error names the flag', () =>
  withUser(async (test, user) => {
    await writeFile(join(user.outside, 'file'), 'x');
    await symlink(user.outside, join(user.root, 'link'));
    await symlink(user.path, join(user.outside, 'back'));
    await symlink(join(user.outside, 'missing'), join(user.root, 'dangling'));
    const outside = [
      user.outside,
      `${user.root}/../outside`,
      join(user.root, 'link'),
      '/',
      '/etc',
      join(user.root, 'link/missing'),
      join(user.root, 'dangling'),
      join(user.outside, 'missing'),
      test.directory,
      `${user.root}-other`,
    ];
    for (const path of outside) {
      for (const mode of ['worktree', 'copy', 'in_place', 'read_only'] as const) {
        expect(await refusalOf(create(test, [done], { path, mode }))).toMatch(/^403 path: .*--allow-directory/);
      }
    }
    for (const path of ['relative', './project', 'a\0b']) {
      expect(await refusalOf(create(test, [done], { path }))).toMatch(/^400 path: .* is not an absolute path/);
    }
    expect(await refusalOf(create(test, [done], { path: join(user.path, 'README.md') }))).toMatch(
      /^400 path: .* is not a directory/,
    );
    for (const missing of ['missing', 'project/missing/deep']) {
      const refusal = await refusalOf(create(test, [done], { path: join(user.root, missing) }));
      expect(refusal).toBe(`400 path: ${join(user.root, missing)} does not exist: name a directory that exists`);
    }
    // What a link leads to counts, not where the link is.
    const { resource } = await create(test, [done], { path: join(user.outside, 'back') });
    expect(resource.path).toBe(user.path);
  }));

it('[WS10] without allowed directories every directory is refused', () =>
  withRepository((user) =>
    withServer(async (test) => {
      const refusal = await refusalOf(create(test, [done], { path: user.path }));
      expect(refusal).toMatch(
        /^403 path: (.*) is not in .* \(it allows none\): start .*--allow-directory \1, or ask its operator to$/,
      );
    }),
  ));

it('[WS11] a directory is listed and retrieved like other resources, and can neither be added nor deleted later', () =>
  withUser(async (test, user) => {
    const { client } = test;
    const { id, resource } = await create(test, [done], { path: user.path });
    expect((await client.beta.sessions.resources.list(id)).data).toEqual([resource]);
    expect(await client.beta.sessions.resources.retrieve(resource.id, { session_id: id })).toEqual(resource);
    expect((await client.beta.sessions.retrieve(id)).resources).toEqual([resource]);
    const gone = client.beta.sessions.resources.delete(resource.id, { session_id: id });
    expect(await refusalOf(gone)).toMatch(/^400 .* is a directory, which a session has for its lifetime/);
    const added = client.beta.sessions.resources.add(id, { type: 'directory', path: user.path } as never);
    expect(await refusalOf(added)).toMatch(/^400 /);
    const rotated = client.beta.sessions.resources.update(resource.id, { session_id: id, authorization_token: 'x' });
    expect(await refusalOf(rotated)).toMatch(/^400 authorization_token: /);
    const both = [{ path: user.path }, { path: user.root }].map((each) => ({ type: 'directory', ...each })) as never[];
    expect(await refusalOf(createWith(test, [done], both))).toMatch(
      /^400 resources: a directory is the whole workspace/,
    );
  }));

it('[WS12] options that belong to another mode are refused', () =>
  withUser(async (test, user) => {
    for (const [field, value] of [
      ['base', 'main'],
      ['include_uncommitted', true],
      ['copy', ['.env']],
    ] as const) {
      for (const mode of ['copy', 'in_place', 'read_only'] as const) {
        const refusal = await refusalOf(create(test, [done], { path: user.path, mode, [field]: value }));
        expect(refusal).toMatch(new RegExp(`^400 ${field}: is for mode worktree, and the mode is ${mode}`));
      }
    }
    const empty = join(user.root, 'empty');
    await mkdir(empty);
    expect(await refusalOf(create(test, [done], { path: empty, mode: 'worktree' }))).toMatch(
      /^400 mode: .* is not in a git repository/,
    );
    runUserGit(empty, ['init', '--quiet']);
    expect(await refusalOf(create(test, [done], { path: empty, mode: 'worktree' }))).toMatch(
      /^400 mode: .* without commits/,
    );
    const { resource } = await create(test, [done], { path: empty });
    expect(resource.mode).toBe('copy');
  }));

it('[WS37] fields of a directory are accepted up to their limits, and one more is refused', () =>
  withUser(async (test, user) => {
    const { sourcePathCharsMax, sourceBaseCharsMax, copyPatternsMax, copyPatternCharsMax, setupCommandCharsMax } =
      workspaceLimits;
    const outcome = (params: object) => refusalOf(create(test, [done], { path: user.path, ...params }));
    expect(await outcome({ path: `/${'a'.repeat(sourcePathCharsMax - 1)}` })).toMatch(/^403 /);
    expect(await outcome({ path: `/${'a'.repeat(sourcePathCharsMax)}` })).toMatch(/^400 .*path/);
    expect(await outcome({ base: 'a'.repeat(sourceBaseCharsMax) })).toMatch(/is not a commit/);
    expect(await outcome({ base: 'a'.repeat(sourceBaseCharsMax + 1) })).not.toMatch(/is not a commit/);
    const pattern = 'p'.repeat(copyPatternCharsMax);
    const setup = 'x'.repeat(setupCommandCharsMax);
    await create(test, [done], {
      path: user.path,
      copy: Array.from({ length: copyPatternsMax }, () => pattern),
      setup,
    });
    expect(await outcome({ copy: Array.from({ length: copyPatternsMax + 1 }, () => 'p') })).toMatch(/^400 .*copy/);
    expect(await outcome({ copy: [`${pattern}p`] })).toMatch(/^400 .*copy/);
    expect(await outcome({ copy: ['a\nb'] })).toMatch(/^400 .*copy/);
    expect(await outcome({ setup: `${setup}x` })).toMatch(/^400 .*setup/);
  }));

it('[WS13] a directory and repositories cannot be resources of one session', () =>
  withUser(async (test, user) => {
    const directory = { type: 'directory', path: user.path };
    for (const type of ['github_repository', 'git_repository']) {
      const repository = { type, url: 'https://github.com/a/b' };
      for (const resources of [
        [directory, repository],
        [repository, directory],
      ]) {
        const refusal = await refusalOf(createWith(test, [done], resources as never[]));
        expect(refusal).toMatch(/^400 resources: a directory is the whole workspace of a session/);
      }
    }
  }));

it('[WS14] files are mounted into a worktree but not into its git directory, and its own directory is neither tracked nor shown by git', () =>
  withUser(async (test, user) => {
    const { client } = test;
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from('data'), 'data.csv') });
    const resources = [
      { type: 'file', file_id: file.id },
      { type: 'directory', path: user.path },
    ] as never[];
    const script = [
      bash('cat /mnt/session/uploads/data.csv; echo; echo out > /mnt/session/outputs/out.txt; git status --short'),
      done,
    ];
    const session = await createWith(test, script, resources);
    expect(session.resources.map(({ type }) => type)).toEqual(['directory', 'file']);
    for (const mount_path of ['/workspace/.git', '/workspace/.GIT/hooks/pre-commit', '/workspace/sub/.git/config']) {
      const planted = client.beta.sessions.resources.add(session.id, { type: 'file', file_id: file.id, mount_path });
      expect(await refusalOf(planted)).toMatch(/^400 mount_path: .* is in a git directory/);
    }
    expect(await runTurn(test, session.id)).toEqual(['data']);
    const outputs = await client.beta.files.list({ scope_id: session.id });
    expect(outputs.data.map(({ filename }) => filename)).toContain('out.txt');
    expect(runUserGit(join(test.directory, 'workspaces', session.id), ['status', '--short'])).toBe('');
  }));

it('[WS15] a fork has a worktree or copy of its own', () =>
  withUser(async (test, user) => {
    const { id, resource } = await create(
      test,
      [bash('echo x > x'), done, bash('ls; git branch --show-current'), done],
      { path: user.path, mode: 'in_place' },
    );
    await runTurn(test, id);
    const fork = await test.client.post<{ id: string; resources: DirectoryResource[] }>(`/v1/sessions/${id}/fork`, {
      body: {},
    });
    expect(fork.resources).toMatchObject([
      { type: 'directory', mode: 'worktree', commit: resource.commit, path: user.path },
    ]);
    const results = await runTurn(test, fork.id);
    expect(results.at(-1)!.endsWith(`\nREADME.md\nsrc\nx\n${fork.resources[0]!.branch}`)).toBe(true);
  }));

it('[WS16] a request to orchestrate takes a directory too', () =>
  withUser(async (test, user) => {
    const body = {
      message: 'Look around',
      agent_def: {
        name: 'a',
        model: 'scripted/inline',
        system: toScript([bash('git branch --show-current; ls'), [{ say: '{{last_result}}' }]]),
        tools: [{ type: 'agent_toolset_20260401' }],
      },
      resources: [{ type: 'directory', path: user.path }],
    };
    const headers = { 'x-api-key': test.key, 'content-type': 'application/json' };
    const answer = await fetch(`${test.url}/v1/orchestrate`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toMatch(/fleetloom\/[a-z0-9]{8}\\nREADME.md\\nsrc/);
    const refused = await fetch(`${test.url}/v1/orchestrate`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...body, resources: [{ type: 'directory', path: user.outside }] }),
    });
    expect(refused.status).toBe(403);
  }));

/** Commands that print a line for each attempt that succeeds, and nothing else. */
function toAttempts(commands: readonly string[]): string {
  return commands
    .map((command) => `(${command}) > /dev/null 2>&1 && echo '${command}'`)
    .join('; ')
    .concat('; true');
}

async function withUser(run: (test: TestServer, user: UserRepository) => Promise<void>): Promise<void> {
  await withRepository((user) => withServer((test) => run(test, user), { allowedDirectories: [user.root] }));
}

/** A session of an agent that plays turns, on a directory. */
async function create(
  test: TestServer,
  turns: readonly (readonly object[])[],
  params: Omit<DirectoryResourceParams, 'type'>,
  title = '',
): Promise<{ id: string; resource: DirectoryResource }> {
  // The official types do not know the type.
  const session = await createWith(test, turns, [{ type: 'directory', ...params }] as never[], title);
  return { id: session.id, resource: session.resources[0] as unknown as DirectoryResource };
}

async function createWith(
  { client }: TestServer,
  turns: readonly (readonly object[])[],
  resources: never[],
  title = '',
) {
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const agent = await client.beta.agents.create({
    name: 'a',
    model: 'scripted/inline',
    system: toScript(turns),
    tools,
  });
  const environment = await client.beta.environments.create({ name: `here-${Math.random()}` });
  return await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id, title, resources });
}

/** The status and message of a request that is refused. */
async function refusalOf(request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error('the request was not refused', { cause: error });
  const { error: body } = error.error as { error: { message: string } };
  return `${error.status} ${body.message}`;
}

/** Sends a message, and returns the results of tools when the session is idle again. */
async function runTurn({ client }: TestServer, sessionId: string, end = 'idle'): Promise<readonly string[]> {
  const { events } = client.beta.sessions;
  await events.send(sessionId, { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }] });
  await expect.poll(async () => (await client.beta.sessions.retrieve(sessionId)).status, { timeout: 20_000 }).toBe(end);
  const results: string[] = [];
  for await (const event of events.list(sessionId)) {
    if (event.type === 'agent.tool_result') {
      results.push(event.content?.map((block) => ('text' in block ? block.text : '')).join('') ?? '');
    }
  }
  return results;
}
