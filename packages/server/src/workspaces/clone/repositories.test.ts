import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { workspaceLimits } from '../limits.ts';
import { openGitServer, runGit } from './git-server.suite.ts';
import { openRepositoriesBench, SESSION } from './repositories.suite.ts';
import { measure } from './watch-size.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('a clone', () => {
  it('[WS193] that grows beyond 5 GiB is stopped, and what it had written is removed', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { noise: randomBytes(400_000).toString('hex') });
    host.allow('team/app', null, 'read');
    const bench = openRepositoriesBench([host.origin], { cloneBytesMax: 300_000 });
    bench.add('github_repository', url);
    const [problem] = await bench.prepare();
    expect(problem).toEqual({
      type: 'repository_clone_error',
      message: `${url} could not be cloned: it has more than 300000 bytes, and a clone may have no more`,
      repository_url: url,
    });
    expect(await measure(bench.directory, 1e9)).toBe(0);
    expect(readdirSync(bench.workspace)).toEqual([]);
    expect(workspaceLimits.cloneBytesMax).toBe(5 * 1024 ** 3);
  });

  it('[WS193] is stopped while it is still being received', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { noise: randomBytes(3_000_000).toString('hex') });
    host.allow('team/app', null, 'read');
    const bench = openRepositoriesBench([host.origin], { cloneBytesMax: 10_000, cloneLookMs: 5 });
    bench.add('github_repository', url);
    expect(await bench.prepare()).toMatchObject([{ type: 'repository_clone_error' }]);
    expect(await measure(bench.directory, 1e9)).toBe(0);
  });

  it('[WS193] whose files would be larger than its objects is stopped before they are written', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { bomb: '0'.repeat(20_000_000) });
    host.allow('team/app', null, 'read');
    const bench = openRepositoriesBench([host.origin], { cloneBytesMax: 1_000_000 });
    bench.add('github_repository', url);
    let most = 0;
    const watching = setInterval(
      () => void measure(bench.directory, 1e9).then((bytes) => (most = Math.max(most, bytes))),
      5,
    );
    expect(await bench.prepare()).toMatchObject([
      { message: expect.stringContaining('it has more than 1000000 bytes') },
    ]);
    clearInterval(watching);
    expect(most).toBeLessThan(1_000_000);
  });

  it('[WS193] of exactly the size that is allowed is not stopped', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { a: 'a' });
    host.allow('team/app', null, 'read');
    const first = openRepositoriesBench([host.origin]);
    first.add('github_repository', url);
    expect(await first.prepare()).toEqual([]);
    const bytes = await measure(join(first.workspace, 'app'), 1e9);
    const prepare = async (cloneBytesMax: number) => {
      // Looked at when it is complete: git has files beside it for a moment.
      const bench = openRepositoriesBench([host.origin], { cloneBytesMax, cloneLookMs: 60_000 });
      bench.add('github_repository', url);
      return await bench.prepare();
    };
    expect(await prepare(bytes)).toEqual([]);
    expect(await prepare(bytes - 1)).toMatchObject([
      { message: expect.stringContaining(`more than ${bytes - 1} bytes`) },
    ]);
  });

  it('[WS193] that takes longer than 10 min is stopped', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { a: 'a' });
    host.allow('team/app', null, 'read');
    host.onRequest = () => wait(60_000, undefined, { ref: false });
    const bench = openRepositoriesBench([host.origin], { cloneMs: 500 });
    bench.add('github_repository', url);
    expect(await bench.prepare()).toMatchObject([
      { type: 'repository_clone_error', message: `${url} could not be cloned: it took longer than 0.5 s` },
    ]);
    expect(await measure(bench.directory, 1e9)).toBe(0);
    expect(workspaceLimits.cloneMs).toBe(600_000);
  });

  it('[WS193] ends when its session is dropped, and the next call begins again', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { a: 'a' });
    host.allow('team/app', null, 'read');
    host.onRequest = () => wait(60_000, undefined, { ref: false });
    const bench = openRepositoriesBench([host.origin]);
    bench.add('github_repository', url);
    const stop = new AbortController();
    const first = bench.prepare(stop.signal);
    await expect.poll(() => host.requests.length).toBe(1);
    stop.abort();
    expect(await first).toMatchObject([{ message: expect.stringContaining('it was stopped') }]);
    host.onRequest = undefined;
    expect(await bench.prepare()).toEqual([]);
  });

  it('[WS198] is not repeated for a crash between its move and the note of it, and is for one before', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { a: 'a' });
    host.allow('team/app', null, 'read');
    const bench = openRepositoriesBench([host.origin]);
    const id = bench.add('github_repository', url);
    const [note, app] = [join(bench.directory, SESSION, `${id}.note`), join(bench.workspace, 'app')];
    await bench.prepare();
    const { dev, ino } = lstatSync(app);
    const requests = host.requests.length;
    writeFileSync(note, `${dev}:${ino}`);
    expect(await bench.prepare()).toEqual([]);
    expect(readFileSync(note, 'utf8')).toBe('done');
    expect(host.requests).toHaveLength(requests);
    // Before its move: what is left of the clone is removed.
    writeFileSync(note, `${dev}:1`);
    renameSync(app, join(bench.directory, SESSION, id));
    expect(await bench.prepare()).toEqual([]);
    expect(existsSync(join(app, 'a'))).toBe(true);
    expect(readdirSync(join(bench.directory, SESSION))).toEqual([`${id}.note`]);
  });

  it('[WS183] is not put through a link, nor over something that is there', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { a: 'a' });
    host.allow('team/app', null, 'read');
    const bench = openRepositoriesBench([host.origin]);
    mkdirSync(join(bench.root, 'outside'));
    symlinkSync(join(bench.root, 'outside'), join(bench.workspace, 'link'));
    symlinkSync('/nonexistent', join(bench.workspace, 'broken'));
    mkdirSync(join(bench.workspace, 'full/file'), { recursive: true });
    writeFileSync(join(bench.workspace, 'file'), '');
    mkdirSync(join(bench.workspace, 'empty'));
    for (const path of ['link/app', 'link', 'broken', 'full', 'file', 'empty'])
      bench.add('github_repository', url, `/workspace/${path}`);
    const problems = await bench.prepare();
    expect(problems.map(({ message }) => message.replace(/^.*place: /, ''))).toEqual([
      expect.stringMatching(/outside of the workspace|symbolic link/),
      expect.stringMatching(/outside of the workspace|symbolic link/),
      expect.stringMatching(/outside of the workspace|symbolic link/),
      'there is something at /workspace/full already',
      'there is something at /workspace/file already',
    ]);
    expect(readdirSync(join(bench.root, 'outside'))).toEqual([]);
    expect(existsSync(join(bench.workspace, 'empty', 'a'))).toBe(true);
    expect(bench.problems).toEqual([]);
  });

  it('[WS182] of a file URL is made below an allowed directory, and not any more when that has become a link', async () => {
    const bench = openRepositoriesBench([]);
    const source = join(bench.root, 'allowed', 'code');
    mkdirSync(source, { recursive: true });
    runGit(source, 'init', '--quiet');
    writeFileSync(join(source, 'a'), 'a');
    runGit(source, 'add', '--all');
    runGit(source, 'commit', '--quiet', '--message=first');
    bench.add('git_repository', `file://${source}`, '/workspace/one');
    expect(await bench.prepare()).toEqual([]);
    expect(readFileSync(join(bench.workspace, 'one', 'a'), 'utf8')).toBe('a');
    expect(existsSync(join(bench.workspace, 'one/.git/objects/info/alternates'))).toBe(false);
    expect(await bench.repositories.openRelay(SESSION)).toBeUndefined();
    renameSync(source, join(bench.root, 'moved'));
    symlinkSync(join(bench.root, 'moved'), source);
    bench.add('git_repository', `file://${source}`, '/workspace/two');
    expect(await bench.prepare()).toMatchObject([{ type: 'repository_forbidden_error' }]);
  });
});

describe('a hostile repository', () => {
  it('[WS194] with a command in .gitmodules is refused, and nothing of it runs', async () => {
    const host = await openGitServer();
    const bench = openRepositoriesBench([host.origin]);
    const command = `touch ${join(bench.root, 'ran')}`;
    const url = host.addRepository('team/app', {
      '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = ./s\n\tupdate = !${command}\n`,
    });
    host.allow('team/app', null, 'read');
    bench.add('github_repository', url);
    expect(await bench.prepare()).toMatchObject([{ type: 'repository_clone_error' }]);
    const option = '[submodule "s"]\n\tpath = s\n\turl = -u./evil\n';
    const other = host.addRepository('team/other', { '.gitmodules': option });
    host.allow('team/other', null, 'read');
    bench.add('github_repository', other, '/workspace/other');
    expect((await bench.prepare()).map(({ repository_url }) => repository_url)).toEqual([url, other]);
    expect(existsSync(join(bench.root, 'ran'))).toBe(false);
  });

  it('[WS194] with filters and hooks that are only named is cloned, and its links stay links', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', {
      '.gitattributes': '* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n',
      '.gitconfig': '[filter "evil"]\n\tsmudge = touch ran\n[core]\n\tfsmonitor = touch ran\n\thooksPath = hooks\n',
      '.lfsconfig': '[lfs]\n\turl = http://127.0.0.1:1/\n',
      'hooks/post-checkout': '#!/bin/sh\ntouch ran\n',
      '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = https://github.com/owner/s\n`,
      'a.bin': 'pointer',
    });
    host.allow('team/app', null, 'read');
    const blob = host.git('team/app', 'rev-parse', 'main:a.bin');
    const attributes = host.git(
      'team/app',
      'ls-tree',
      'main',
      '--',
      '.gitattributes',
      '.gitconfig',
      '.gitmodules',
      '.lfsconfig',
      'hooks',
    );
    const entries = `${attributes}\n100644 blob ${blob}\ta.bin\n120000 blob ${blob}\tlink\n160000 commit ${'1'.repeat(40)}\ts\n`;
    const made = writeTree(host, entries);
    host.git('team/app', 'update-ref', 'refs/heads/main', host.git('team/app', 'commit-tree', made, '-m', 'links'));
    const bench = openRepositoriesBench([host.origin]);
    bench.add('github_repository', url);
    expect(await bench.prepare()).toEqual([]);
    expect(readlinkSync(join(bench.workspace, 'app', 'link'))).toBe('pointer');
    // The submodule is an empty directory, and its repository was not asked for.
    expect(readdirSync(join(bench.workspace, 'app', 's'))).toEqual([]);
    expect(existsSync(join(bench.workspace, 'app', 'ran'))).toBe(false);
    expect(readdirSync(join(bench.workspace, 'app', '.git')).sort()).toEqual(
      ['HEAD', 'config', 'index', 'logs', 'objects', 'packed-refs', 'refs'].sort(),
    );
  });

  it.each(['.GIT', '.git', '.Git ', 'git~1', '.g\u200cit'])('[WS194] with an entry %j is not cloned', async (name) => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { a: '[core]\n\tfsmonitor = touch ran\n' });
    host.allow('team/app', null, 'read');
    const inner = writeTree(host, `100644 blob ${host.git('team/app', 'rev-parse', 'main:a')}\tconfig\n`);
    const made = writeRawTree(host, name, inner);
    host.git('team/app', 'update-ref', 'refs/heads/main', host.git('team/app', 'commit-tree', made, '-m', 'x'));
    const bench = openRepositoriesBench([host.origin]);
    bench.add('github_repository', url);
    const problems = await bench.prepare();
    expect(problems).toMatchObject([{ type: 'repository_clone_error' }]);
    expect(readdirSync(bench.workspace)).toEqual([]);
  });

  it('[WS194] on this machine runs nothing either: hooks, fsmonitor, pack hooks and ssh commands of its configuration', async () => {
    const bench = openRepositoriesBench([]);
    const source = join(bench.root, 'allowed', 'code');
    const mark = join(bench.root, 'ran');
    mkdirSync(source, { recursive: true });
    runGit(source, 'init', '--quiet');
    writeFileSync(join(source, 'a'), 'a');
    runGit(source, 'add', '--all');
    runGit(source, 'commit', '--quiet', '--message=first');
    const command = `touch ${mark}`;
    for (const name of [
      'core.fsmonitor',
      'core.sshCommand',
      'uploadpack.packObjectsHook',
      'core.pager',
      'diff.external',
      'filter.evil.smudge',
    ]) {
      runGit(source, 'config', name, command);
    }
    for (const hook of ['post-checkout', 'pre-push', 'reference-transaction', 'post-index-change']) {
      writeFileSync(join(source, '.git/hooks', hook), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
    }
    bench.add('git_repository', `file://${source}`);
    expect(await bench.prepare()).toEqual([]);
    expect(existsSync(mark)).toBe(false);
    rmSync(source, { recursive: true });
  });
});

type Host = Awaited<ReturnType<typeof openGitServer>>;

/** Writes a tree from the lines of `git ls-tree`. */
function writeTree(host: Host, entries: string): string {
  const file = join(tmpdir(), `fleetloom-tree-${process.pid}`);
  writeFileSync(file, entries);
  try {
    return host.git('team/app', '-c', `alias.read=!git mktree --missing < ${file}`, 'read');
  } finally {
    rmSync(file);
  }
}

/** Writes a tree with one directory, whatever its name. */
function writeRawTree(host: Host, name: string, tree: string): string {
  const file = join(tmpdir(), `fleetloom-raw-tree-${process.pid}`);
  writeFileSync(file, Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(tree, 'hex')]));
  try {
    return host.git('team/app', 'hash-object', '-t', 'tree', '-w', '--literally', file);
  } finally {
    rmSync(file);
  }
}
