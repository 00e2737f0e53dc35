import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { snapshotLimits } from './objects/limits.ts';
import { openSnapshotBench, readOracle, readSnapshot } from './snapshots.suite.ts';

const text = async (bench: Awaited<ReturnType<typeof openSnapshotBench>>, tree: string, path: string) => {
  const stream = await bench.snapshots.readFile(bench.sessionId, tree, path);
  return stream && Buffer.concat(await stream.toArray()).toString();
};

it('[WS50] a snapshot has the exact bytes of every file, its executable bit, symbolic links as links and names of any bytes', async () => {
  const bench = await openSnapshotBench({
    before: ({ put, git }) => {
      put('.gitattributes', '* text=auto eol=lf ident\n');
      put('crlf.txt', 'one\r\ntwo\r\n');
      git('config', 'filter.evil.clean', 'touch hooked; cat');
      git('config', 'core.autocrlf', 'true');
    },
  });
  const { put, link, directory, snapshots, sessionId } = bench;
  put('.gitattributes', '* text=auto eol=lf ident filter=evil working-tree-encoding=UTF-16\n');
  put('crlf.txt', 'one\r\nthree\r\n$Id$\r\n');
  put('binary', Buffer.from([0, 255, 13, 10, 0]));
  put('run.sh', '#!/bin/sh\n', 0o755);
  put('empty', '');
  put('a b\n\t"quoted"\\x41/ünïcödé', 'x');
  put('sub/git~1', 'not a git directory');
  link('dangling', 'no/such/file');
  link('to-root', '/');
  writeFileSync(
    Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x66, 0xff, 0xfe])]),
    'name that is not UTF-8',
  );
  const tree = await bench.recordAll();
  expect(await readSnapshot(snapshots, sessionId, tree)).toEqual(readOracle(directory));
  expect(existsSync(join(directory, 'hooked'))).toBe(false);
  put('run.sh', '#!/bin/sh\n', 0o644);
  const [change] = await snapshots.diffTrees(sessionId, tree, await bench.recordAll());
  expect(change).toMatchObject({
    path: 'run.sh',
    status: 'modified',
    before: { mode: '100755' },
    after: { mode: '100644' },
  });
});

it('[WS51] the first tree has the uncommitted files of the source, and the user repository is not changed', async () => {
  let before = '';
  const bench = await openSnapshotBench({
    before: ({ put, git }) => {
      put('kept.txt', 'kept\n');
      git('add', '-A');
      git('commit', '-q', '-m', 'first');
      put('kept.txt', 'changed, not committed\n');
      put('new.txt', 'untracked\n');
      git('add', 'new.txt');
      git('commit', '-q', '-m', 'second');
      put('loose.txt', 'loose\n');
      before = git('status', '--porcelain');
    },
  });
  expect(await readSnapshot(bench.snapshots, bench.sessionId, bench.opened)).toEqual(readOracle(bench.directory));
  bench.put('more.txt', 'more\n');
  await bench.recordAll();
  expect(before).toContain('loose.txt');
  expect(bench.git('for-each-ref')).toMatch(/^\w+ commit\trefs\/heads\/main\n$/);
  expect(bench.git('status', '--porcelain')).toBe('?? more.txt\n');
  // Objects of the user's repository are read from there and not copied.
  const own = execFileSync('git', ['count-objects', '-v'], { env: { ...process.env, GIT_DIR: bench.repository } });
  expect(Number(/count: (\d+)/.exec(own.toString())![1])).toBeLessThan(5);
});

it('[WS52] a call that names the file it writes records that file alone, even if the file is ignored', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('.gitignore', 'secret.txt\n/build/\n') });
  bench.put('build/out.txt', 'built\n');
  bench.put('other.txt', 'by another process\n');
  const change = await bench.call('toolu_1', ['/workspace/build/out.txt']);
  expect(change?.payload).toMatchObject({
    cause: 'tool',
    tool_use_id: 'toolu_1',
    files: [{ path: 'build/out.txt', status: 'added', added: 1, removed: 0 }],
    files_count: 1,
    parent: bench.opened,
  });
  const later = await bench.call('toolu_2');
  expect(later?.payload.files.map(({ path }) => path)).toEqual(['other.txt']);
  // It stays recorded: a later change is found, also after a restart.
  bench.put('build/out.txt', 'built again\n');
  const again = await bench.reopen(later!.payload.tree).record({ type: 'turn', threadId: 'thread' });
  expect(again?.payload.files).toEqual([{ path: 'build/out.txt', status: 'modified', added: 1, removed: 1 }]);
});

it('[WS53] a call that may write any file records everything that changed: added, modified, deleted, and files that became directories', async () => {
  const bench = await openSnapshotBench({
    before: ({ put, link }) => {
      for (const name of ['modified', 'deleted', 'file-to-directory', 'file-to-link', 'a/b/c', 'directory-to-file/x'])
        put(name, `${name}\n`);
      link('link-to-file', 'modified');
    },
  });
  bench.put('modified', 'changed\n');
  for (const name of ['deleted', 'file-to-directory', 'file-to-link', 'directory-to-file', 'link-to-file', 'a'])
    bench.remove(name);
  bench.put('file-to-directory/inside/x', 'x\n');
  bench.put('directory-to-file', 'y\n');
  bench.put('link-to-file', 'z\n');
  bench.link('file-to-link', 'modified');
  bench.link('a', 'file-to-directory');
  const change = await bench.call('toolu_1');
  const files = await readSnapshot(bench.snapshots, bench.sessionId, change!.payload.tree);
  expect(files).toEqual(readOracle(bench.directory));
  expect(Object.keys(files)).not.toContain('deleted');
  expect(change!.payload.files_count).toBe(change!.payload.files.length);
  expect(await bench.call('toolu_2')).toBeUndefined();
});

it('[WS54] files that were ignored before the session are not recorded, and a rule that an agent writes hides nothing', async () => {
  const bench = await openSnapshotBench({
    before: ({ put, directory }) => {
      put('.gitignore', 'node_modules/\n*.log\n!keep.log\n');
      put('packages/one/.gitignore', '/dist\ntmp\n');
      mkdirSync(join(directory, '.git/info'), { recursive: true });
      writeFileSync(join(directory, '.git/info/exclude'), 'mine.txt\n');
    },
  });
  for (const ignored of [
    'node_modules/x/y.js',
    'deep/node_modules/z.js',
    'a.log',
    'packages/one/dist/o.js',
    'packages/one/a/tmp',
    'mine.txt',
  ]) {
    bench.put(ignored, 'ignored\n');
  }
  const recorded = ['keep.log', 'packages/one/a/dist', 'tmp', 'packages/two/tmp', 'hidden.txt', '.gitignore'];
  for (const path of recorded) bench.put(path, 'recorded\n');
  bench.put('.gitignore', '*\n');
  const change = await bench.call('toolu_1');
  expect(change?.payload.files.map(({ path }) => path)).toEqual(recorded.sort());
  // New ignored paths are named once, at the end of the turn; of a directory not what is in it.
  bench.put('packages/three/node_modules/w.js', 'ignored\n');
  bench.put('visible.txt', 'recorded\n');
  expect((await bench.call('toolu_2'))?.payload).not.toHaveProperty('not_recorded');
  const ended = await bench.recorder.record({ type: 'turn', threadId: 'thread' });
  expect(ended?.payload).toMatchObject({ cause: 'turn', files_count: 0 });
  expect(ended?.payload.not_recorded).toEqual([
    { path: 'a.log', reason: 'ignored' },
    { path: 'deep/node_modules/', reason: 'ignored' },
    { path: 'mine.txt', reason: 'ignored' },
    { path: 'node_modules/', reason: 'ignored' },
    { path: 'packages/one/a/tmp', reason: 'ignored' },
    { path: 'packages/one/dist/', reason: 'ignored' },
    { path: 'packages/three/node_modules/', reason: 'ignored' },
  ]);
  expect(await bench.recorder.record({ type: 'turn', threadId: 'thread' })).toBeUndefined();
});

it('[WS55] a repository that an agent creates in the workspace is recorded with its files; its `.git` is named as not recorded', async () => {
  const bench = await openSnapshotBench();
  bench.put('nested/src/a.txt', 'a\n');
  bench.put('nested/deeper/b.txt', 'b\n');
  bench.git('init', '-q', 'nested');
  bench.git('init', '-q', 'nested/deeper');
  const change = await bench.call('toolu_1');
  expect(change?.payload.files.map(({ path }) => path)).toEqual(['nested/deeper/b.txt', 'nested/src/a.txt']);
  expect(change?.payload.not_recorded).toEqual([
    { path: 'nested/.git', reason: 'git_directory' },
    { path: 'nested/deeper/.git', reason: 'git_directory' },
  ]);
  bench.put('nested/src/a.txt', 'changed\n');
  bench.put('nested/c.txt', 'c\n');
  const tree = await bench.recordAll();
  expect(await readSnapshot(bench.snapshots, bench.sessionId, tree)).toEqual(readOracle(bench.directory));
});

it('[WS56] a file larger than 10 MB is named as not recorded and keeps its last recorded content; so is a pipe in place of a file', async () => {
  const bench = await openSnapshotBench({
    before: ({ put }) => {
      put('grows', 'small\n');
      put('becomes-a-pipe', 'file\n');
    },
  });
  bench.put('edge', Buffer.alloc(snapshotLimits.fileBytesMax, 1));
  bench.put('large', '');
  truncateSync(join(bench.directory, 'large'), snapshotLimits.fileBytesMax + 1);
  bench.put('grows', Buffer.alloc(snapshotLimits.fileBytesMax + 1, 2));
  bench.remove('becomes-a-pipe');
  execFileSync('mkfifo', [join(bench.directory, 'becomes-a-pipe')]);
  const change = await bench.call('toolu_1');
  expect(change?.payload.files.map(({ path, status }) => `${status} ${path}`)).toEqual([
    'deleted becomes-a-pipe',
    'added edge',
  ]);
  expect(change?.payload.not_recorded).toEqual([
    { path: 'becomes-a-pipe', reason: 'special' },
    { path: 'grows', reason: 'too_large' },
    { path: 'large', reason: 'too_large' },
  ]);
  expect(await text(bench, change!.payload.tree, 'grows')).toBe('small\n');
  // Named once, and again when it changes.
  expect(await bench.call('toolu_2')).toBeUndefined();
  bench.put('large', Buffer.alloc(snapshotLimits.fileBytesMax + 2, 3));
  const again = await bench.call('toolu_3');
  expect(again?.payload).toMatchObject({ tree: change!.payload.tree, files_count: 0, tool_use_id: 'toolu_3' });
  expect(again?.payload.not_recorded_count).toBe(2);
  expect(snapshotLimits.fileBytesMax).toBe(10 * 1024 * 1024);
});

it('[WS57] no byte outside of the workspace is recorded while an agent swaps a directory for a symbolic link', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('swap/secret.txt', 'public 0\n') });
  writeFileSync(join(bench.outside, 'secret.txt'), 'SECRET\n');
  writeFileSync(join(bench.outside, 'other.txt'), 'SECRET\n');
  symlinkSync(bench.outside, join(bench.directory, 'link'));
  // Three names: at each moment `swap` is the directory, the link, or missing.
  const script = `const fs=require('fs');for(;;){fs.renameSync('swap','dir');fs.renameSync('link','swap');fs.renameSync('swap','link');fs.renameSync('dir','swap');}`;
  const swapper = spawn(process.execPath, ['-e', script], { cwd: bench.directory, stdio: 'ignore' });
  try {
    for (let round = 0; round < 12; round++) {
      const tree = await bench.recordAll();
      const files = await readSnapshot(bench.snapshots, bench.sessionId, tree);
      const secret = Buffer.from('SECRET').toString('hex');
      expect(Object.entries(files).filter(([path, content]) => path !== 'link' && content.includes(secret))).toEqual(
        [],
      );
      expect(Object.keys(files).filter((path) => path.endsWith('other.txt'))).toEqual([]);
    }
  } finally {
    swapper.kill('SIGKILL');
  }
});

it('[WS58] nothing that is written into the workspace makes the server execute a program: hooks, filters, fsmonitor, textconv, submodules', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('a.txt', 'a\n') });
  const proof = join(bench.outside, 'executed');
  const program = `sh -c 'echo x >> ${proof}; cat'`;
  for (const [key, value] of [
    ['core.fsmonitor', program],
    ['filter.evil.clean', program],
    ['filter.evil.process', program],
    ['diff.evil.textconv', program],
    ['diff.external', program],
    ['core.hooksPath', '.'],
  ] as const) {
    bench.git('config', key, value);
  }
  bench.put('post-index-change', `#!/bin/sh\necho x >> ${proof}\n`, 0o755);
  bench.put('.gitattributes', '* filter=evil diff=evil\n');
  bench.git('init', '-q', 'sub');
  bench.git('-C', 'sub', 'commit', '-q', '--allow-empty', '-m', 'x');
  bench.git('-C', 'sub', 'config', 'core.fsmonitor', program);
  bench.put('a.txt', 'changed\n');
  const tree = await bench.recordAll();
  await bench.snapshots.unifiedDiff(bench.sessionId, bench.opened, tree, 'a.txt');
  bench.put('a.txt', 'changed again\n');
  expect(await readSnapshot(bench.snapshots, bench.sessionId, await bench.recordAll())).toEqual(
    readOracle(bench.directory),
  );
  expect(existsSync(proof)).toBe(false);
});

it('[WS59] records that are requested at the same time are answered by one further record, and only the first request gets the change', async () => {
  const bench = await openSnapshotBench();
  const { recorder } = bench;
  bench.put('first', '1\n');
  const first = recorder.record({ type: 'turn', threadId: 'a' });
  bench.put('second', '2\n');
  const others = ['b', 'c', 'd'].map((threadId) => recorder.record({ type: 'turn', threadId }));
  const changes = [await first, ...(await Promise.all(others))];
  expect(changes.slice(2)).toEqual([undefined, undefined]);
  const names = changes.flatMap((change) => change?.payload.files.map(({ path }) => path) ?? []);
  expect(names.sort()).toEqual(['first', 'second']);
});

it('[WS60] a change belongs to the tool call in whose interval it falls; if several calls overlap, all are candidates and none is chosen', async () => {
  const bench = await openSnapshotBench({ mode: 'copy' });
  const { recorder } = bench;
  const end = async (toolUseId: string, threadId = 'one') =>
    (await recorder.record({ type: 'tool', threadId, toolUseId }))?.payload;
  recorder.begin({ threadId: 'one', toolUseId: 'bash1', paths: null });
  recorder.begin({ threadId: 'two', toolUseId: 'bash2', paths: null });
  bench.put('a', 'a\n');
  const both = [
    { session_thread_id: 'one', tool_use_id: 'bash1' },
    { session_thread_id: 'two', tool_use_id: 'bash2' },
  ];
  expect(await end('bash1')).toMatchObject({ tool_use_id: null, candidates: both });
  // The first has ended, and the second is still running.
  bench.put('b', 'b\n');
  const only = await end('bash2', 'two');
  expect(only).toMatchObject({ tool_use_id: 'bash2', files: [{ path: 'b' }] });
  expect(only).not.toHaveProperty('candidates');
  // A call that names its file is not a candidate for other files.
  recorder.begin({ threadId: 'one', toolUseId: 'bash3', paths: null });
  recorder.begin({ threadId: 'two', toolUseId: 'write1', paths: ['c'] });
  bench.put('c', 'c\n');
  expect(await end('write1', 'two')).toMatchObject({
    tool_use_id: null,
    candidates: [{ tool_use_id: 'bash3' }, { tool_use_id: 'write1' }],
  });
  bench.put('d', 'd\n');
  expect(await end('bash3')).toMatchObject({ tool_use_id: 'bash3', files: [{ path: 'd' }] });
  // A process that outlived its call.
  bench.put('e', 'e\n');
  const late = await recorder.record({ type: 'turn', threadId: 'one' });
  expect(late).toMatchObject({ threadId: 'one', payload: { cause: 'turn', tool_use_id: null } });
});

it('[WS61] a diff has exact line counts, null for binary files, and the unified diff of one file; a diff of more than 8 MB is refused', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('a.txt', 'one\ntwo\nthree\n') });
  bench.put('a.txt', 'one\n2\nthree\nfour\n');
  bench.put('dir/b.bin', Buffer.from([0, 1, 2]));
  bench.put('big.txt', `${'x'.repeat(99)}\n`.repeat(90_000));
  const tree = await bench.recordAll();
  const { snapshots, sessionId, opened } = bench;
  const shown = (await snapshots.diffTrees(sessionId, opened, tree)).map(({ path, status, added, removed }) => [
    path,
    status,
    added,
    removed,
  ]);
  expect(shown).toEqual([
    ['a.txt', 'modified', 2, 1],
    ['big.txt', 'added', 90_000, 0],
    ['dir/b.bin', 'added', null, null],
  ]);
  expect((await snapshots.diffTrees(sessionId, opened, tree, { paths: ['dir'] })).map(({ path }) => path)).toEqual([
    'dir/b.bin',
  ]);
  const diff = await snapshots.unifiedDiff(sessionId, opened, tree, 'a.txt');
  expect(diff).toContain('--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n');
  expect(await snapshots.unifiedDiff(sessionId, tree, tree, 'a.txt')).toBe('');
  expect(await snapshots.unifiedDiff(sessionId, opened, tree, 'big.txt')).toBeUndefined();
  expect(await snapshots.readFile(sessionId, tree, 'dir')).toBeUndefined();
  expect(await snapshots.readFile(sessionId, tree, 'none')).toBeUndefined();
});

it('[WS62] trees are merged line by line; changes that exclude each other are conflicts with their paths, and nothing is written', async () => {
  const lines = (...changed: [number, string][]) =>
    Array.from({ length: 9 }, (_, at) => `${changed.find(([line]) => line === at)?.[1] ?? `line ${at}`}\n`).join('');
  const bench = await openSnapshotBench({
    before: ({ put }) => {
      put('both.txt', lines());
      put('clash.txt', lines());
      put('deleted.txt', 'x\n');
      put('mode.sh', 'x\n');
    },
  });
  const { snapshots, sessionId, opened } = bench;
  bench.put('both.txt', lines([0, 'ours']));
  bench.put('mode.sh', 'x\n', 0o755);
  bench.put('ours.txt', 'ours\n');
  const ours = await bench.recordAll();
  bench.remove('ours.txt');
  bench.put('both.txt', lines([8, 'theirs']));
  bench.put('mode.sh', 'changed\n');
  bench.put('theirs.txt', 'theirs\n');
  const theirs = await bench.recordAll();
  const merged = await snapshots.mergeTrees(sessionId, { base: opened, ours, theirs });
  if (merged.type !== 'merged') throw new Error('conflicts');
  expect(await text(bench, merged.tree, 'both.txt')).toBe(lines([0, 'ours'], [8, 'theirs']));
  expect(await text(bench, merged.tree, 'mode.sh')).toBe('changed\n');
  const files = await readSnapshot(snapshots, sessionId, merged.tree);
  expect(files['mode.sh']).toMatch(/^100755/);
  expect(Object.keys(files)).toEqual(['both.txt', 'clash.txt', 'deleted.txt', 'mode.sh', 'ours.txt', 'theirs.txt']);
  expect(await snapshots.mergeTrees(sessionId, { base: opened, ours, theirs: ours })).toEqual({
    type: 'merged',
    tree: ours,
  });

  bench.put('clash.txt', lines([4, 'ours']));
  bench.remove('deleted.txt');
  bench.put('place', 'a file\n');
  const left = await bench.recordAll();
  bench.put('clash.txt', lines([4, 'theirs']));
  bench.put('deleted.txt', 'changed\n');
  bench.remove('place');
  bench.put('place/inside', 'a directory\n');
  const right = await bench.recordAll();
  const clash = await snapshots.mergeTrees(sessionId, { base: opened, ours: left, theirs: right });
  if (clash.type !== 'conflicts') throw new Error('no conflicts');
  const found = Object.fromEntries(clash.files.map(({ path, reason }) => [path, reason]));
  expect(found).toEqual({ 'clash.txt': 'content', 'deleted.txt': 'kind', place: 'directory' });
  expect(clash.files.find(({ path }) => path === 'clash.txt')).toMatchObject({
    places: 1,
    marked: expect.stringContaining('<<<<<<< ours'),
  });
});

it('[WS63] a tree is written to a new directory, or as a difference: other files stay, and no link is followed', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('dir/a.txt', 'first\n') });
  const { snapshots, sessionId, opened, directory } = bench;
  bench.put('run.sh', 'x\n', 0o755);
  bench.link('link', 'dir/a.txt');
  bench.put('dir/a.txt', 'second\r\n');
  const tree = await bench.recordAll();
  const copy = join(bench.outside, 'copy');
  mkdirSync(copy);
  await snapshots.writeTree(sessionId, tree, copy);
  expect(readOracle(copy)).toEqual(readOracle(directory));
  await snapshots.writeTree(sessionId, opened, directory, { from: tree });
  expect(await readSnapshot(snapshots, sessionId, opened)).toEqual(readOracle(directory));
  expect(await bench.recordAll()).toBe(opened);
  // A link in the place of a directory is not followed.
  renameSync(join(directory, 'dir'), join(bench.outside, 'dir'));
  symlinkSync(join(bench.outside, 'dir'), join(directory, 'dir'));
  await expect(snapshots.writeTree(sessionId, tree, directory, { from: opened })).rejects.toThrow(
    /dir\/a\.txt cannot be written/,
  );
  expect(readFileSync(join(bench.outside, 'dir/a.txt'), 'utf8')).toBe('first\n');
  expect(await snapshots.recordDirectory(sessionId, copy, { base: opened })).toBe(tree);
});

it('[WS64] a copy has all trees of its origin and stays complete when the origin is removed', async () => {
  const bench = await openSnapshotBench();
  bench.put('a.txt', 'a\n');
  const tree = await bench.recordAll();
  await bench.snapshots.copyTo(bench.sessionId, 'sesn_2', tree);
  const before = await readSnapshot(bench.snapshots, bench.sessionId, tree);
  await bench.snapshots.remove(bench.sessionId);
  expect(await readSnapshot(bench.snapshots, 'sesn_2', tree)).toEqual(before);
  await expect(bench.snapshots.diffTrees(bench.sessionId, tree, tree)).rejects.toThrow(
    'no files of sesn_1 are recorded',
  );
});

it('[WS65] a recorder that begins after a crash finds exactly what differs from the last logged tree', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('a.txt', 'a\n') });
  bench.put('logged.txt', 'logged\n');
  const logged = await bench.recordAll();
  bench.put('not-logged.txt', 'recorded, and the server was killed before the commit\n');
  bench.remove('a.txt');
  await bench.recordAll();
  const names = readdirSync(bench.repository).filter((name) => name.startsWith('index-'));
  writeFileSync(join(bench.repository, `${names[0]}.lock`), 'of a killed process');
  const change = await bench.reopen(logged).record({ type: 'turn', threadId: 'thread' });
  expect(change?.payload).toMatchObject({
    parent: logged,
    files: [
      { path: 'a.txt', status: 'deleted', added: 0, removed: 1 },
      { path: 'not-logged.txt', status: 'added', added: 1, removed: 0 },
    ],
  });
  expect(readdirSync(bench.repository).filter((name) => name.endsWith('.lock'))).toEqual([]);
});

it('[WS66] a record that fails does not fail its caller: it is logged as not recorded, and the next record repeats it', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('.gitignore', 'ignored.txt\n') });
  const objects = join(bench.repository, 'objects');
  bench.put('ignored.txt', 'x\n');
  bench.put('a.txt', 'a\n');
  renameSync(objects, `${objects}-away`);
  const failed = await bench.call('toolu_1', ['ignored.txt']);
  renameSync(`${objects}-away`, objects);
  expect(failed?.payload).toMatchObject({
    tree: bench.opened,
    files: [],
    not_recorded: [{ path: '.', reason: 'failed' }],
  });
  const change = await bench.call('toolu_2');
  expect(change?.payload.files.map(({ path }) => path)).toEqual(['a.txt', 'ignored.txt']);
});

it('[WS67] a directory without git is recorded as well, and many files are stored in packs', async () => {
  const bench = await openSnapshotBench({
    isRepository: false,
    before: ({ put }) => {
      put('.gitignore', 'skipped/\n');
      put('skipped/x', 'x');
      for (let count = 0; count < 3 * snapshotLimits.looseObjectsMax; count++)
        put(`d${count % 7}/f${count}`, `${count}\n`);
    },
  });
  const files = readOracle(bench.directory);
  delete files['skipped/x'];
  expect(await readSnapshot(bench.snapshots, bench.sessionId, bench.opened)).toEqual(files);
  expect(readdirSync(join(bench.repository, 'objects/pack')).some((name) => name.endsWith('.pack'))).toBe(true);
});

it('[WS378] changes of fewer than 20 files are not written to the index, and each record has every file as it is', async () => {
  const names = Array.from({ length: 25 }, (_, at) => `f${at}.txt`);
  const bench = await openSnapshotBench({
    before: ({ put, git }) => {
      for (const name of names) put(name, `${name}\n`);
      git('add', '-A');
      git('commit', '-q', '-m', 'first');
    },
  });
  const { put, remove, directory, snapshots, sessionId, recorder, repository } = bench;
  /** Records everything, and returns whether the index has the new file. */
  const check = async () => {
    const tree = await bench.recordAll();
    expect(await readSnapshot(snapshots, sessionId, tree)).toEqual(readOracle(directory));
    await recorder.close();
    const index = readdirSync(repository).find((name) => name.startsWith('index-'))!;
    return readFileSync(join(repository, index)).toString('latin1').includes('new.txt');
  };
  put('new.txt', 'one\n');
  for (const name of names.slice(0, 18)) put(name, 'changed\n');
  expect(await check()).toBe(false);
  // The same files again: another content, that of before the session, another mode, a link.
  put('f0.txt', 'again\n');
  put('f1.txt', 'f1.txt\n');
  put('f4.txt', 'changed\n', 0o755);
  remove('f5.txt');
  bench.link('f5.txt', 'f0.txt');
  put('new.txt', 'two\n');
  expect(await check()).toBe(false);
  expect(await bench.call('toolu_none')).toBeUndefined();
  // The 20th file.
  put('f20.txt', 'changed\n');
  expect(await check()).toBe(true);
  // A removed file is in the index at once, and may come back as anything.
  remove('new.txt');
  expect(await check()).toBe(false);
  put('new.txt/inside', 'three\n');
  remove('f2.txt');
  await check();
  put('f2.txt', 'f2.txt\n');
  remove('new.txt');
  put('new.txt', 'four\n');
  await check();
  expect(await bench.call('toolu_none')).toBeUndefined();
});
