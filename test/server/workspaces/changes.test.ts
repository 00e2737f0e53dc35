import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type TestServer, withServer } from '../server.suite.ts';
import { changesOf, refusalOf, toLines } from './changes.suite.ts';
import { createRecorded, framesOf, readSnapshots, say } from './snapshots.suite.ts';
import { changesLimits } from '../../../packages/server/src/workspaces/changes/limits.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import { beginJournal, endJournal } from '../../../packages/server/src/workspaces/snapshots/write/write-journal.ts';

const bash = (command: string) => ({ call: 'bash', input: { command } });
const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const done = [{ say: 'done' }];
const ADDED = 'both sides added the file, with different content';
const DIRECTORY = 'a file on one side and a directory on the other';
/** What a session adds to the user's repository. */
const OURS = ['.git/worktrees', '.git/refs/heads/fleetloom'];

it('[WS100] the changes of a session list each file with exact counts, and the threads, turns and tool calls that touched it', () =>
  withUser(async (test, user) => {
    const script = [
      [write('a.txt', 'one\ntwo\n'), bash('rm README.md; echo x >> src/main.ts')],
      done,
      [write('a.txt', '1\n2\n3\n')],
      done,
    ];
    const id = await createRecorded(test, script, { path: user.path });
    const changes = changesOf(test, id);
    expect(await changes.list()).toMatchObject({
      state: 'not_opened',
      from: null,
      to: null,
      files: [],
      files_count: 0,
    });
    await say(test, id);
    const middle = (await framesOf(test, id)).at(-1)!.seq;
    await say(test, id);
    const all = await changes.list();
    expect(toLines(all.files)).toEqual(['README.md deleted 0 1', 'a.txt added 3 0', 'src/main.ts modified 1 0']);
    expect(all).toMatchObject({
      state: 'open',
      files_count: 3,
      lines_added: 4,
      lines_removed: 1,
      not_recorded: [],
      applied: [],
    });
    const { resources } = await test.client.beta.sessions.retrieve(id);
    const { branch, commit } = resources[0] as unknown as { branch: string; commit: string };
    expect(all.source).toEqual({ type: 'directory', mode: 'worktree', path: user.path, branch, base: commit });
    expect(all.can_apply).toEqual({ working_tree: true, branch: true });
    const frames = (await framesOf(test, id)).filter((frame) => frame.type === 'workspace.changed');
    expect(all.to).toMatchObject({ cursor: String(frames.at(-1)!.seq), tree: frames.at(-1)!.payload.tree });
    const touches = all.files[1]!.touched_by;
    expect(
      touches.map(({ cursor, session_thread_id, stream_id, tool_use_id, cause }) => [
        cursor,
        session_thread_id,
        stream_id,
        tool_use_id,
        cause,
      ]),
    ).toEqual(
      [frames[0]!, frames.at(-1)!].map(({ seq, thread_id, turn, payload }) => [
        String(seq),
        thread_id,
        turn!.stream_id,
        payload.tool_use_id,
        'tool',
      ]),
    );
    expect(all.files.map((file) => file.touched_by_count)).toEqual([1, 2, 1]);
    const [thread] = all.threads;
    expect(all.threads).toEqual([{ session_thread_id: frames[0]!.thread_id, agent_name: 'a', files_count: 3 }]);
    // A range has only what changed in it.
    expect(toLines((await changes.list({ from: String(middle) })).files)).toEqual(['a.txt modified 3 2']);
    expect(toLines((await changes.list({ to: String(middle) })).files)).toEqual([
      'README.md deleted 0 1',
      'a.txt added 2 0',
      'src/main.ts modified 1 0',
    ]);
    expect((await changes.list({ to: '1' })).files).toEqual([]);
    expect((await changes.list({ thread: thread!.session_thread_id })).files_count).toBe(3);
    expect(await refusalOf(changes.list({ from: 'x' }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/from: x is not a cursor/),
    });
    expect(await refusalOf(changes.list({ to: '999999' }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/to: 999999 is after the end/),
    });
    const crossed = { from: all.to!.cursor, to: all.from!.cursor };
    expect(await refusalOf(changes.list(crossed))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/from: the cursor \d+ is after/),
    });
  }));

it('[WS101] the diff of a file is unified, says so if it is binary or too large, and a path that does not exist is refused', () =>
  withUser(async (test, user) => {
    const { diffCharsMax } = changesLimits;
    const commands = [
      'echo third >> README.md; chmod +x src/main.ts; printf "a\\0b" > bin.dat; ln -s README.md link',
      `head -c ${diffCharsMax - 200} /dev/zero | tr "\\\\0" x > fits.txt; head -c ${diffCharsMax} /dev/zero | tr "\\\\0" x > large.txt`,
    ];
    const id = await createRecorded(test, [[bash(commands.join('; '))], done], { path: user.path });
    await say(test, id);
    const { diff } = changesOf(test, id);
    const readme = await diff({ path: 'README.md' });
    expect(readme).toMatchObject({ status: 'modified', added: 1, removed: 0, is_binary: false, omitted: null });
    expect(readme).toMatchObject({ before: { mode: '100644', bytes: 7 }, after: { mode: '100644', bytes: 13 } });
    expect(readme.diff).toMatch(/^diff --git a\/README\.md b\/README\.md\n[^]*@@ -1 \+1,2 @@\n second\n\+third\n$/);
    expect((await diff({ path: 'README.md', context: '0' })).diff).toMatch(/@@ -1,0 \+2 @@.*\n\+third\n$/);
    expect((await diff({ path: 'src/main.ts' })).diff).toContain('old mode 100644\nnew mode 100755\n');
    expect((await diff({ path: 'link' })).after).toEqual({ mode: '120000', bytes: 9 });
    expect(await diff({ path: 'bin.dat' })).toMatchObject({
      is_binary: true,
      diff: null,
      omitted: 'binary',
      added: null,
    });
    expect(await diff({ path: 'fits.txt' })).toMatchObject({ omitted: null });
    expect(await diff({ path: 'large.txt' })).toMatchObject({ omitted: 'too_large', diff: null, added: 1 });
    expect(await diff({ path: '.gitignore' })).toMatchObject({ status: 'unchanged', diff: '', added: 0, removed: 0 });
    for (const path of ['nowhere', 'src', '../README.md', '/etc/passwd', '.git/config', 'README.md/x']) {
      expect(await refusalOf(diff({ path }))).toMatchObject({ status: 404, code: 'path_not_found' });
    }
    expect(await refusalOf(diff({}))).toMatchObject({ status: 400 });
  }));

it('[WS102] the tree and the files of a session can be read as they were at any cursor', () =>
  withUser(async (test, user) => {
    const script = [
      [write('a.txt', 'first\n'), bash('ln -s a.txt link; echo "#!" > run; chmod +x run')],
      done,
      [bash('rm a.txt; printf "\\377" > a.bin')],
      done,
    ];
    const id = await createRecorded(test, script, { path: user.path });
    const { tree, content } = changesOf(test, id);
    expect(await refusalOf(tree())).toMatchObject({ status: 409, code: 'workspace_not_open' });
    await say(test, id);
    const at = String((await framesOf(test, id)).at(-1)!.seq);
    await say(test, id);
    const before = await tree({ at });
    expect(before.entries.map(({ path, type, bytes }) => `${path} ${type} ${bytes}`)).toEqual([
      '.gitignore file 19',
      'README.md file 7',
      'a.txt file 6',
      'link symlink 5',
      'run executable 3',
      'src/main.ts file 11',
    ]);
    expect(before.next_after).toBe(null);
    const pages = [await tree({ limit: '4' })];
    while (pages.at(-1)!.next_after !== null) pages.push(await tree({ limit: '4', after: pages.at(-1)!.next_after! }));
    const paths = pages.map(({ entries }) => entries.map(({ path }) => path));
    expect(paths).toEqual([
      ['.gitignore', 'README.md', 'a.bin', 'link'],
      ['run', 'src/main.ts'],
    ]);
    expect((await tree({ under: 'src' })).entries.map(({ path }) => path)).toEqual(['src/main.ts']);
    const file = await content({ path: 'a.txt', at });
    expect([file.bytes.toString(), file.headers.get('x-fleetloom-mode')]).toEqual(['first\n', '100644']);
    expect(file.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''a.txt");
    expect((await content({ path: 'link' })).bytes.toString()).toBe('a.txt');
    expect((await content({ path: 'a.bin' })).bytes).toEqual(Buffer.from([255]));
    expect(await refusalOf(content({ path: 'a.txt' }))).toMatchObject({ status: 404, code: 'path_not_found' });
    expect(await refusalOf(tree({ limit: String(changesLimits.treeEntriesMax + 1) }))).toMatchObject({ status: 400 });
  }));

it("[WS103] changes that are applied to the working tree are there with their modes and links, and the user's index, refs, stash and config stay as they are", () =>
  withUser(async (test, user) => {
    const command =
      'rm src/main.ts; echo new > deep/er.txt; echo "#!" > run; chmod +x run; ln -s deep/er.txt link; echo third >> README.md';
    const id = await createRecorded(test, [[bash(`mkdir deep; ${command}`)], done], { path: user.path });
    await user.write('untouched.txt', 'mine\n');
    user.git('add', 'untouched.txt');
    const before = user.fingerprint(OURS);
    await say(test, id);
    expect(user.fingerprint(OURS)).toEqual(before);
    const changes = changesOf(test, id);
    const dry = await changes.apply({ dry_run: true });
    expect(user.fingerprint(OURS)).toEqual(before);
    const applied = await changes.apply();
    expect(toLines(applied.files)).toEqual([
      'README.md modified 1 0',
      'deep/er.txt added 1 0',
      'link added 1 0',
      'run added 1 0',
      'src/main.ts deleted 0 1',
    ]);
    expect(applied).toEqual({ ...dry, dry_run: false });
    expect(applied).toMatchObject({
      onto: 'working_tree',
      directory: user.path,
      branch: null,
      commit: null,
      files_count: 5,
      lines_added: 4,
      lines_removed: 1,
    });
    expect(await readFile(join(user.path, 'README.md'), 'utf8')).toBe('second\nthird\n');
    expect((await stat(join(user.path, 'run'))).mode & 0o777).toBe(0o755);
    expect(await readlink(join(user.path, 'link'))).toBe('deep/er.txt');
    expect(existsSync(join(user.path, 'src'))).toBe(false);
    const kept = ['README.md', 'deep/er.txt', 'link', 'run', 'src/main.ts'];
    const withoutChanged = (all: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(all).filter(([path]) => !kept.includes(path)));
    expect(withoutChanged(user.fingerprint(OURS))).toEqual(withoutChanged(before));
    const frame = (await framesOf(test, id)).at(-1)!;
    expect([frame.type, frame.payload]).toEqual([
      'workspace.applied',
      { id: expect.any(String), by: 'first key', onto: 'working_tree', paths_count: 5 },
    ]);
    expect((await changes.list()).applied).toEqual([
      {
        cursor: String(frame.seq),
        time: expect.any(String),
        by: 'first key',
        onto: 'working_tree',
        paths_count: 5,
        branch: null,
        commit: null,
      },
    ]);
  }));

it('[WS104] applying twice is a no-op: nothing is written and nothing is logged', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'a\n'), bash('echo third >> README.md')], done], {
      path: user.path,
    });
    await say(test, id);
    const changes = changesOf(test, id);
    await user.write('README.md', 'zeroth\nsecond\n');
    await changes.apply();
    expect(await readFile(join(user.path, 'README.md'), 'utf8')).toBe('zeroth\nsecond\nthird\n');
    const before = [
      user.fingerprint(),
      (await lstat(join(user.path, 'a.txt'))).mtimeMs,
      (await framesOf(test, id)).length,
    ];
    expect(await changes.apply()).toMatchObject({ files: [], files_count: 0 });
    const after = [
      user.fingerprint(),
      (await lstat(join(user.path, 'a.txt'))).mtimeMs,
      (await framesOf(test, id)).length,
    ];
    expect(after).toEqual(before);
  }));

it('[WS105] a conflict is an error that lists the files, and nothing is written', () =>
  withUser(async (test, user) => {
    const command =
      'echo theirs > README.md; rm src/main.ts; echo theirs > added.txt; mkdir dir; echo x > dir/x.txt; echo y > .env; echo z > plain; echo fine > fine.txt';
    const id = await createRecorded(test, [[bash(command), write('.env', 'theirs\n')], done], { path: user.path });
    await say(test, id);
    await user.write('README.md', 'ours\n');
    await user.write('src/main.ts', 'ours\n');
    await user.write('added.txt', 'ours\n');
    await user.write('dir', 'a file\n');
    await mkdir(join(user.path, 'plain'));
    const before = user.fingerprint(OURS);
    const changes = changesOf(test, id);
    const refusal = await refusalOf(changes.apply());
    expect(refusal).toMatchObject({ status: 409, code: 'apply_conflict' });
    expect(refusal.details).toEqual({
      files: [
        { path: '.env', reason: 'kind', places: null, text: ADDED },
        {
          path: 'README.md',
          reason: 'content',
          places: 1,
          text: 'the same lines were changed on both sides (1 place)',
        },
        { path: 'added.txt', reason: 'kind', places: null, text: ADDED },
        {
          path: 'src/main.ts',
          reason: 'kind',
          places: null,
          text: 'the session deleted the file, and you changed it',
        },
      ],
      files_count: 4,
    });
    expect(refusal.message).toMatch(
      /conflict with .*project in \.env, README\.md, added\.txt, src\/main\.ts, and nothing was written: commit/,
    );
    // What is in the way shows when the other conflicts are left out.
    const rest = await refusalOf(changes.apply({ paths: ['dir', 'plain', 'fine.txt'] }));
    expect(rest.details['files']).toEqual([
      { path: 'dir', reason: 'directory', places: null, text: DIRECTORY },
      { path: 'plain', reason: 'directory', places: null, text: DIRECTORY },
    ]);
    expect(user.fingerprint(OURS)).toEqual(before);
    expect((await framesOf(test, id)).some(({ type }) => type === 'workspace.applied')).toBe(false);
    expect(toLines((await changes.apply({ paths: ['fine.txt'] })).files)).toEqual(['fine.txt added 1 0']);
  }));

it("[WS106] paths select files and directories, the user's other edits are merged, and a path without changes is refused", () =>
  withUser(async (test, user) => {
    await user.write('lines.txt', '1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    user.git('add', '--all');
    user.git('commit', '--quiet', '--message=lines');
    const script = [[bash('sed -i s/9/nine/ lines.txt; echo b > src/b.ts; echo c > src/c.ts; echo d > d.txt')], done];
    const id = await createRecorded(test, script, { path: user.path });
    await say(test, id);
    await user.write('lines.txt', 'one\n2\n3\n4\n5\n6\n7\n8\n9\n');
    const changes = changesOf(test, id);
    expect(await refusalOf(changes.apply({ paths: ['src', 'nothing'] }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/paths: nothing has changed in nothing/),
    });
    expect(existsSync(join(user.path, 'src/b.ts'))).toBe(false);
    expect(toLines((await changes.apply({ paths: ['src/', 'lines.txt'] })).files)).toEqual([
      'lines.txt modified 1 1',
      'src/b.ts added 1 0',
      'src/c.ts added 1 0',
    ]);
    expect(await readFile(join(user.path, 'lines.txt'), 'utf8')).toBe('one\n2\n3\n4\n5\n6\n7\n8\nnine\n');
    expect(existsSync(join(user.path, 'd.txt'))).toBe(false);
    expect(toLines((await changes.apply()).files)).toEqual(['d.txt added 1 0']);
  }));

it('[WS107] applying follows no symbolic link of the working tree, and only a directory that is still allowed is written', () =>
  withRepository(async (user) => {
    const script = [[bash('echo changed > src/main.ts; echo new > src/new.ts')], done];
    const allowedDirectories = [user.root];
    await withServer(
      async (test) => {
        const id = await createRecorded(test, script, { path: user.path });
        await say(test, id);
        await rm(join(user.path, 'src'), { recursive: true });
        await symlink(user.outside, join(user.path, 'src'));
        const { details } = await refusalOf(changesOf(test, id).apply());
        expect(details['files']).toMatchObject([{ path: 'src/main.ts' }]);
        const other = await refusalOf(changesOf(test, id).apply({ paths: ['src/new.ts'] }));
        expect(other.details['files']).toMatchObject([{ path: 'src', reason: 'directory' }]);
        expect(existsSync(join(user.outside, 'new.ts'))).toBe(false);
        await rm(join(user.path, 'src'));
        const before = user.fingerprint();
        allowedDirectories.splice(0, 1, user.outside);
        const later = changesOf(await test.restart(), id);
        expect(await refusalOf(later.apply({ paths: ['src/new.ts'] }))).toMatchObject({
          message: expect.stringContaining('allows any more'),
        });
        expect(user.fingerprint()).toEqual(before);
      },
      { allowedDirectories, allowUnsandboxedBash: true },
    );
  }));

it('[WS108] changes that are applied to a branch are one commit with the agents as co-authors, and nothing but that branch moves', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(
      test,
      [[write('a.txt', 'a\n'), bash('echo third >> README.md; chmod +x README.md')], done],
      { path: user.path },
    );
    await say(test, id);
    const changes = changesOf(test, id);
    await user.write('README.md', 'not committed\n');
    const files = () =>
      user.fingerprint([
        ...OURS,
        '.git/objects',
        '.git/refs/heads/result',
        '.git/logs/refs/heads/result',
        '.git/refs/heads/other',
        '.git/logs/refs/heads/other',
      ]);
    const before = files();
    const whole = user.fingerprint(OURS);
    expect(await changes.apply({ onto: 'branch', branch: 'result', dry_run: true })).toMatchObject({
      commit: null,
      files_count: 2,
    });
    expect(user.fingerprint(OURS)).toEqual(whole);
    const applied = await changes.apply({ onto: 'branch', branch: 'result', message: 'Add a' });
    expect(applied).toMatchObject({
      onto: 'branch',
      branch: 'result',
      commit: user.git('rev-parse', 'result'),
      directory: user.path,
    });
    expect(files()).toEqual(before);
    expect(user.git('log', '-1', '--format=%an <%ae>%n%cn%n%P', 'result')).toBe(
      `Ada <ada@example.com>\nAda\n${user.git('rev-parse', 'main')}`,
    );
    expect(user.git('log', '-1', '--format=%B', 'result').trim()).toBe(
      `Add a\n\nFleetloom-Session: ${id}\nCo-authored-by: a <a@agents.fleetloom.invalid>`,
    );
    expect(
      user
        .git('diff', '--raw', '--no-abbrev', 'main', 'result')
        .split('\n')
        .map((line) => line.replaceAll(/ [0-9a-f]{40}/g, '')),
    ).toEqual([':100644 100755 M\tREADME.md', ':000000 100644 A\ta.txt']);
    expect(user.git('fsck', '--strict', '--no-dangling')).toBe('');
    expect((await framesOf(test, id)).at(-1)).toMatchObject({
      type: 'workspace.applied',
      payload: { by: 'first key', onto: 'branch', branch: 'result', commit: applied.commit, paths_count: 2 },
    });
    // Twice is a no-op.
    expect(await changes.apply({ onto: 'branch', branch: 'result' })).toMatchObject({ commit: null, files: [] });
    expect(user.git('rev-parse', 'result')).toBe(applied.commit);
    // Onto a branch that exists: a conflict changes nothing, and what merges becomes its next commit.
    const other = user.git('rev-parse', 'other');
    expect(await refusalOf(changes.apply({ onto: 'branch', branch: 'other' }))).toMatchObject({
      status: 409,
      code: 'apply_conflict',
      details: { files: [{ path: 'README.md' }] },
    });
    expect(user.git('rev-parse', 'other')).toBe(other);
    await changes.apply({ onto: 'branch', branch: 'other', paths: ['a.txt'] });
    expect(user.git('rev-parse', 'other^')).toBe(other);
    expect(files()).toEqual(before);
  }));

it('[WS109] a branch that is checked out, a name that is not valid and a directory without commits are refused', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'a\n')], done], { path: user.path });
    await say(test, id);
    const onto = (branch?: string) =>
      refusalOf(changesOf(test, id).apply({ onto: 'branch', ...(branch !== undefined && { branch }) }));
    const before = user.fingerprint(OURS);
    expect(await onto('main')).toMatchObject({
      status: 409,
      code: 'branch_checked_out',
      message: expect.stringMatching(/main is checked out in .*project/),
    });
    const { resources } = await test.client.beta.sessions.retrieve(id);
    expect(await onto((resources[0] as unknown as { branch: string }).branch)).toMatchObject({
      code: 'branch_checked_out',
    });
    for (const name of ['-f', 'a..b', 'HEAD', 'a b', 'x.lock', 'refs/../x']) {
      expect(await onto(name)).toMatchObject({
        status: 400,
        message: expect.stringMatching(/is not a valid name of a branch/),
      });
    }
    expect(await onto()).toMatchObject({ status: 400, message: expect.stringMatching(/branch: is needed/) });
    expect(await onto('x'.repeat(changesLimits.branchCharsMax + 1))).toMatchObject({ status: 400 });
    expect(user.fingerprint(OURS)).toEqual(before);
    const plain = join(user.root, 'plain');
    await mkdir(plain);
    await writeFile(join(plain, 'p.txt'), 'p\n');
    const copy = await createRecorded(test, [[write('p.txt', 'q\n')], done], { path: plain });
    await say(test, copy);
    expect((await changesOf(test, copy).list()).can_apply).toEqual({ working_tree: true, branch: false });
    expect(await refusalOf(changesOf(test, copy).apply({ onto: 'branch', branch: 'b' }))).toMatchObject({
      status: 409,
      code: 'not_applicable',
    });
    expect(toLines((await changesOf(test, copy).apply()).files)).toEqual(['p.txt modified 1 1']);
    expect(await readFile(join(plain, 'p.txt'), 'utf8')).toBe('q\n');
  }));

it('[WS110] a session that works in place or cannot write has nothing to apply, and a session without a source has no changes', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('src/a.txt', 'a\n')], done], {
      path: join(user.path, 'src'),
      mode: 'in_place',
    });
    await say(test, id);
    const changes = changesOf(test, id);
    expect((await changes.list()).can_apply).toEqual({ working_tree: false, branch: true });
    expect(await refusalOf(changes.apply())).toMatchObject({
      status: 409,
      code: 'not_applicable',
      message: expect.stringMatching(/in place, so its changes are there already/),
    });
    expect(await refusalOf(changes.discard())).toMatchObject({ status: 409, code: 'not_applicable' });
    // The workspace is a directory of the repository.
    await changes.apply({ onto: 'branch', branch: 'result' });
    expect(user.git('diff', '--name-status', 'main', 'result')).toBe('A\tsrc/src/a.txt');
    const none = await createRecorded(test, [done], null);
    await say(test, none);
    const requests = [changesOf(test, none).list(), changesOf(test, none).apply(), changesOf(test, none).discard()];
    const notRecorded = { status: 409, code: 'not_recorded' };
    expect(await Promise.all(requests.map(refusalOf))).toMatchObject([notRecorded, notRecorded, notRecorded]);
    expect(await refusalOf(changesOf(test, 'sesn_unknown').list())).toMatchObject({ status: 404 });
  }));

it('[WS111] discarding removes worktree and branch of an idle session, says what is lost, and the next message begins with a new workspace', () =>
  withUser(async (test, user) => {
    const before = user.fingerprint();
    const script = [
      [write('a.txt', 'a\n'), bash('echo third >> README.md')],
      done,
      [bash('cat README.md; ls a.txt; echo again > again.txt')],
      done,
    ];
    const id = await createRecorded(test, script, { path: user.path });
    const changes = changesOf(test, id);
    expect(await refusalOf(changes.discard())).toMatchObject({ status: 409, code: 'workspace_not_open' });
    await say(test, id);
    const workspace = join(test.directory, 'workspaces', id);
    const dry = await changes.discard({ dry_run: true });
    expect(existsSync(workspace)).toBe(true);
    const gone = await changes.discard();
    expect(gone).toEqual({ ...dry, dry_run: false });
    expect(toLines(gone.files)).toEqual(['README.md modified 1 0', 'a.txt added 1 0']);
    expect(gone.directory).toBe(workspace);
    expect(existsSync(workspace)).toBe(false);
    expect(user.fingerprint()).toEqual(before);
    expect((await framesOf(test, id)).at(-1)).toMatchObject({
      type: 'workspace.discarded',
      payload: { by: 'first key' },
    });
    // What it had can still be read, but not applied.
    const list = await changes.list();
    expect([list.state, list.files_count]).toEqual(['discarded', 2]);
    expect((await changes.diff({ path: 'a.txt' })).diff).toContain('+a\n');
    expect(await refusalOf(changes.apply())).toMatchObject({ status: 409, code: 'workspace_not_open' });
    expect(await refusalOf(changes.restore({ at: list.to!.cursor }))).toMatchObject({
      status: 409,
      code: 'workspace_not_open',
    });
    expect(await changes.discard()).toMatchObject({ files: [], directory: null });
    await say(test, id);
    const later = await changes.list();
    expect([later.state, toLines(later.files)]).toEqual(['open', ['again.txt added 1 0']]);
    expect(await readFile(join(workspace, 'README.md'), 'utf8')).toBe('second\n');
    expect(existsSync(join(workspace, 'a.txt'))).toBe(false);
  }));

it('[WS112] restoring sets the files of an idle session back to a cursor as a new change, and keeps the history', () =>
  withUser(async (test, user) => {
    const script = [
      [write('a.txt', 'first\n'), bash('chmod +x src/main.ts; ln -s a.txt link')],
      done,
      [bash('rm a.txt link; rm -r src; mkdir a.txt; echo x > a.txt/x')],
      done,
      [bash('cat a.txt; echo after >> a.txt')],
      done,
    ];
    const id = await createRecorded(test, script, { path: user.path });
    await say(test, id);
    const at = String((await framesOf(test, id)).at(-1)!.seq);
    await say(test, id);
    const changes = changesOf(test, id);
    const frames = (await framesOf(test, id)).length;
    const dry = await changes.restore({ at, dry_run: true });
    expect((await framesOf(test, id)).length).toBe(frames);
    const restored = await changes.restore({ at });
    expect(toLines(restored.files)).toEqual([
      'a.txt added 1 0',
      'a.txt/x deleted 0 1',
      'link added 1 0',
      'src/main.ts added 1 0',
    ]);
    expect(restored).toEqual({ ...dry, dry_run: false, cursor: restored.cursor });
    const last = (await framesOf(test, id)).at(-1)!;
    expect(last).toMatchObject({
      seq: Number(restored.cursor),
      type: 'workspace.changed',
      thread_id: null,
      payload: { cause: 'restore', by: 'first key', tool_use_id: null, tree: restored.at.tree },
    });
    const workspace = join(test.directory, 'workspaces', id);
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('first\n');
    expect((await stat(join(workspace, 'src/main.ts'))).mode & 0o111).toBe(0o111);
    expect(await readlink(join(workspace, 'link'))).toBe('a.txt');
    expect(await changes.restore({ at })).toMatchObject({ cursor: null, files: [] });
    // What was there in between can still be read, and the agent goes on from the restored files.
    expect((await changes.content({ path: 'a.txt/x', at: String(last.seq - 1) })).bytes.toString()).toBe('x\n');
    await say(test, id);
    expect((await changes.content({ path: 'a.txt' })).bytes.toString()).toBe('first\nafter\n');
    expect(await refusalOf(changes.restore({}))).toMatchObject({ status: 400 });
  }));

it('[WS113] discarding and restoring are refused while the session is running', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'a\n')], done, [bash('sleep 3; echo b > b.txt')], done], {
      path: user.path,
    });
    await say(test, id);
    const changes = changesOf(test, id);
    const { to } = await changes.list();
    const working = say(test, id);
    await expect.poll(async () => (await test.client.beta.sessions.retrieve(id)).status).toBe('running');
    expect(await refusalOf(changes.discard())).toMatchObject({ status: 400, code: 'session_running' });
    expect(await refusalOf(changes.restore({ at: to!.cursor }))).toMatchObject({
      status: 400,
      code: 'session_running',
    });
    await working;
    expect(await changes.restore({ at: to!.cursor })).toMatchObject({ files_count: 1 });
  }));

it('[WS114] changes can be applied after a restart of the server and after the session was archived', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'a\n'), write('b.txt', 'b\n')], done], { path: user.path });
    await say(test, id);
    const later = await test.restart();
    expect(toLines((await changesOf(later, id).apply({ paths: ['a.txt'] })).files)).toEqual(['a.txt added 1 0']);
    await later.client.beta.sessions.archive(id);
    expect(toLines((await changesOf(later, id).apply()).files)).toEqual(['b.txt added 1 0']);
    expect((await changesOf(later, id).list()).applied).toHaveLength(2);
  }));

it('[WS457, WS706] a file that a sparse checkout leaves out is not a conflict: it is written, and written once; to remove it is one', () =>
  withUser(async (test, user) => {
    await user.write('docs/guide.md', 'guide\n');
    await user.write('old/gone.md', 'gone\n');
    user.git('add', 'docs', 'old');
    user.git('commit', '--quiet', '--message=docs');
    user.git('sparse-checkout', 'set', 'docs');
    const turn = [write('src/main.ts', 'agent\n'), bash('rm old/gone.md; echo more >> docs/guide.md')];
    const id = await createRecorded(test, [turn, done], { path: user.path });
    await say(test, id);
    const text = 'the session deleted the file, which your sparse checkout leaves out';
    const refusal = await refusalOf(changesOf(test, id).apply({ dry_run: true }));
    expect(refusal.details['files']).toEqual([{ path: 'old/gone.md', reason: 'sparse', places: null, text }]);
    const paths = ['docs', 'src'];
    await rm(join(user.path, 'docs/guide.md'));
    const changes = changesOf(test, id);
    // The user has removed this one.
    const refused = await refusalOf(changes.apply({ paths }));
    expect(refused).toMatchObject({ code: 'apply_conflict', details: { files: [{ path: 'docs/guide.md' }] } });
    user.git('checkout', '--quiet', 'docs');
    const applied = ['docs/guide.md modified 1 0', 'src/main.ts modified 1 1'];
    expect(toLines((await changes.apply({ paths })).files)).toEqual(applied);
    expect(await readFile(join(user.path, 'src/main.ts'), 'utf8')).toBe('agent\n');
    expect((await changes.apply({ paths })).files_count).toBe(0);
    // On a branch there is nothing sparse.
    expect((await changes.apply({ onto: 'branch', branch: 'agents' })).files_count).toBe(3);
  }));

it('[WS451] a server that starts sets back what a killed one had written of an application, and it can be repeated', () => {
  const problems: string[] = [];
  const onProblem = (problem: unknown) => void problems.push(String(problem));
  return withUser(
    async (test, user) => {
      const id = await createRecorded(test, [[write('a.txt', 'a\n'), write('b.txt', 'b\n')], done], {
        path: user.path,
      });
      await say(test, id);
      const { from, to } = await changesOf(test, id).list();
      const changes = await readSnapshots(test).diffTrees(id, from!.tree, to!.tree);
      const directory = realpathSync(user.path);
      const repositoryPath = join(test.directory, 'snapshots', id);
      // As a process leaves it that is killed after the first file.
      await beginJournal(repositoryPath, { directory, changes, newDirectories: [] });
      const name = readdirSync(dirname(repositoryPath)).find((one) => one.endsWith('.writing'))!;
      const journal = readFileSync(join(dirname(repositoryPath), name));
      await endJournal(repositoryPath, directory);
      writeFileSync(join(dirname(repositoryPath), name), journal);
      await user.write('a.txt', 'a\n');
      const later = await test.restart();
      expect([existsSync(join(user.path, 'a.txt')), existsSync(join(dirname(repositoryPath), name))]).toEqual([
        false,
        false,
      ]);
      expect((await changesOf(later, id).list()).applied).toEqual([]);
      expect(toLines((await changesOf(later, id).apply()).files)).toEqual(['a.txt added 1 0', 'b.txt added 1 0']);
      expect(problems).toEqual([expect.stringContaining(`changes of ${id} to ${directory}: 1 files were set back`)]);
    },
    { onProblem },
  );
});

it(
  '[WS116, WS602] responses about changes are bounded, and their counts are exact',
  () =>
    withUser(async (test, user) => {
      const { filesMax, touchesMax, pathsMax, pathCharsMax, conflictsMax } = changesLimits;
      expect([filesMax, touchesMax, pathsMax, pathCharsMax, conflictsMax]).toEqual([2_000, 20, 2_000, 4_096, 200]);
      const many = bash(`mkdir many; cd many; for i in $(seq ${filesMax + 1}); do echo $i > $i.txt; done`);
      const touches = Array.from({ length: touchesMax + 1 }, (_, at) => [write('a.txt', `${at}\n`)]);
      const id = await createRecorded(test, [[many], ...touches, done], { path: user.path });
      await say(test, id);
      const changes = changesOf(test, id);
      const all = await changes.list();
      expect([all.files.length, all.files_count, all.lines_added]).toEqual([filesMax, filesMax + 2, filesMax + 2]);
      expect([all.files[0]!.path, all.files[0]!.touched_by.length, all.files[0]!.touched_by_count]).toEqual([
        'a.txt',
        touchesMax,
        touchesMax + 1,
      ]);
      const rest = await changes.list({ after: all.next_after! });
      expect([rest.files.length, rest.files_count, rest.next_after]).toEqual([2, filesMax + 2, null]);
      const paths = [...all.files, ...rest.files].map(({ path }) => path);
      expect([new Set(paths).size, paths.toSorted()]).toEqual([filesMax + 2, paths]);
      expect((await changes.list({ limit: '1' })).next_after).toBe('a.txt');
      expect(await refusalOf(changes.list({ limit: `${filesMax + 1}` }))).toMatchObject({ status: 400 });
      // A frame names 200 files only, and each file has its change nevertheless.
      expect(all.files.every((file) => file.touched_by_count > 0)).toBe(true);
      const tooMany = Array.from({ length: pathsMax + 1 }, () => 'many');
      expect(await refusalOf(changes.apply({ paths: tooMany }))).toMatchObject({ status: 400 });
      expect(await refusalOf(changes.apply({ paths: ['x'.repeat(pathCharsMax + 1)] }))).toMatchObject({ status: 400 });
      for (let at = 1; at <= conflictsMax + 1; at++) await user.write(`many/${at}.txt`, 'mine\n');
      const { details } = await refusalOf(changes.apply({ paths: tooMany.slice(1) }));
      expect([(details['files'] as unknown[]).length, details['files_count']]).toEqual([
        conflictsMax,
        conflictsMax + 1,
      ]);
      const applied = await changes.apply({ onto: 'branch', branch: 'result' });
      expect([applied.files.length, applied.files_count]).toEqual([filesMax, filesMax + 2]);
    }),
  120_000,
);

/** Runs with a server that allows the directory of a user's repository. */
function withUser(
  run: (test: TestServer, user: UserRepository) => Promise<void>,
  options: Parameters<typeof withServer>[1] = {},
): Promise<void> {
  return withRepository((user) =>
    withServer((test) => run(test, user), { allowedDirectories: [user.root], allowUnsandboxedBash: true, ...options }),
  );
}
