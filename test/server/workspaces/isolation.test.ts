import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf, refusalOf, toLines } from './changes.suite.ts';
import {
  bash,
  createFleet,
  delegate,
  done,
  mergeNamed,
  resultsOf,
  runFleet,
  threadOf,
  threadsOf,
  withUser,
  worktreeOf,
  write,
} from './isolation.suite.ts';
import { framesOf, readSnapshots, say, waitIdle } from './snapshots.suite.ts';
import { toScript, withServer } from '../server.suite.ts';
import { readOracle, readSnapshot } from '../../../packages/server/src/workspaces/snapshots/snapshots.suite.ts';

it('[WS300] a task with `isolation: worktree` works in a git worktree of its own, made from the present files of the coordinator', () =>
  withUser(async (test, user) => {
    const before = user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom']);
    const tools = [
      [bash('pwd; git status --short; git branch --show-current; git log --oneline | wc -l; ls /workspace')],
      [{ call: 'read', input: { file_path: '/workspace/by-main.txt' } }],
      [{ call: 'edit', input: { file_path: '/workspace/by-main.txt', old_string: 'main', new_string: 'child' } }],
      [write('/workspace/new.txt', 'new\n')],
      [{ call: 'glob', input: { pattern: '*.txt' } }],
      [{ call: 'grep', input: { pattern: 'child' } }],
      [bash('git add -A && git commit -qm work && git log --oneline | wc -l')],
      done,
    ];
    const script = [[write('by-main.txt', 'by main\n')], [delegate(['child'])], done];
    const id = await runFleet(test, { agents: { child: tools }, script, resource: { path: user.path } });
    const child = await threadOf(test, id, 'child');
    const worktree = worktreeOf(test, id, child);
    const [first, committed] = await resultsOf(test, id, 'bash');
    expect(first!.text).toContain('?? by-main.txt');
    expect(first!.text).toMatch(/^fleetloom\/[a-z0-9]{8}-[a-z0-9]{8}$/m);
    expect(first!.text).toMatch(/^2$/m);
    expect(committed).toEqual({ text: expect.stringMatching(/^3$/m), isError: false });
    expect((await resultsOf(test, id, 'read'))[0]!.text).toContain('by main');
    expect((await resultsOf(test, id, 'glob'))[0]!.text).toContain('new.txt');
    expect((await resultsOf(test, id, 'grep'))[0]!.text).toContain('by-main.txt');
    expect(readFileSync(join(worktree, 'by-main.txt'), 'utf8')).toBe('by child\n');
    const workspace = join(test.directory, 'workspaces', id);
    expect(readFileSync(join(workspace, 'by-main.txt'), 'utf8')).toBe('by main\n');
    expect(existsSync(join(workspace, 'new.txt'))).toBe(false);
    expect(user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom'])).toEqual(before);
  }));

it('[WS301] snapshots of a worktree name its thread, begin with the tree that it was made from, and leave the tree of the session as it is', () =>
  withUser(async (test, user) => {
    const script = [[write('by-main.txt', 'by main\n')], [delegate(['child'])], [write('later.txt', 'later\n')], done];
    const child = [[write('a.txt', 'a\n')], [bash('echo b > b.txt')], done];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const thread = await threadOf(test, id, 'child');
    const frames = await framesOf(test, id);
    const isolated = frames.find((frame) => frame.type === 'workspace.isolated')!;
    const changes = frames.filter((frame) => frame.type === 'workspace.changed');
    const [shared, own] = [true, false].map((isShared) =>
      changes.filter(({ payload }) => (payload.workspace_thread_id === undefined) === isShared),
    );
    expect(isolated).toMatchObject({
      thread_id: thread,
      payload: { session_thread_id: thread, from_session_thread_id: null, tree: shared![0]!.payload.tree },
    });
    expect(own!.map(({ thread_id, payload }) => [thread_id, payload.workspace_thread_id, payload.parent])).toEqual([
      [thread, thread, isolated.payload.tree],
      [thread, thread, own![0]!.payload.tree],
    ]);
    expect(own!.map(({ payload }) => payload.unmerged?.files.map(({ path }) => path))).toEqual([
      ['a.txt'],
      ['a.txt', 'b.txt'],
    ]);
    const firstRequest = frames.find((frame) => frame.type === 'span.model_request_end' && frame.thread_id === thread)!;
    expect(isolated.seq).toBeLessThan(firstRequest.seq);
    expect(shared!.map(({ payload }) => payload.files.map(({ path }) => path))).toEqual([
      ['by-main.txt'],
      ['later.txt'],
    ]);
    expect(shared![1]!.payload.parent).toBe(shared![0]!.payload.tree);
    const snapshots = readSnapshots(test);
    expect(await readSnapshot(snapshots, id, own!.at(-1)!.payload.tree)).toEqual(
      readOracle(worktreeOf(test, id, thread)),
    );
    expect(await readSnapshot(snapshots, id, shared!.at(-1)!.payload.tree)).toEqual(
      readOracle(join(test.directory, 'workspaces', id)),
    );
  }));

it('[WS302] `isolation` of a roster entry holds for its threads, a task overrides it, and the default is the shared workspace', () =>
  withUser(async (test, user) => {
    const agents = { one: [[write('one.txt', '1\n')], done], two: [[write('two.txt', '2\n')], done] };
    const script = [[delegate(['one'], null)], [delegate(['two'], 'shared')], done];
    const id = await runFleet(test, { agents, script, isolation: 'worktree', resource: { path: user.path } });
    const workspace = join(test.directory, 'workspaces', id);
    expect([existsSync(join(workspace, 'one.txt')), existsSync(join(workspace, 'two.txt'))]).toEqual([false, true]);
    expect(existsSync(join(worktreeOf(test, id, await threadOf(test, id, 'one')), 'one.txt'))).toBe(true);
    const { agent } = await test.client.beta.sessions.retrieve(id);
    expect(agent.multiagent).toMatchObject({ agents: [{ isolation: 'worktree' }, { isolation: 'worktree' }] });
    const stored = await test.client.beta.agents.retrieve(agent.id);
    expect(stored.multiagent).toMatchObject({ agents: [{ isolation: 'worktree' }, { isolation: 'worktree' }] });
    const plain = await runFleet(test, {
      agents,
      script: [[delegate(['one'], null)], done],
      resource: { path: user.path },
    });
    expect(existsSync(join(test.directory, 'workspaces', plain, 'one.txt'))).toBe(true);
    const shown = await test.client.beta.sessions.retrieve(plain);
    expect(JSON.stringify(shown.agent)).not.toContain('isolation');
  }));

it('[WS303] the result of an isolated thread names its branch and the files that it changed', () =>
  withUser(async (test, user) => {
    const agents = { child: [[write('a.txt', 'a\n'), bash('rm README.md')], done], idle: [done] };
    const script = [[delegate(['child', 'idle'])], done];
    const id = await runFleet(test, { agents, script, resource: { path: user.path } });
    const [{ text }] = (await resultsOf(test, id, 'delegate')) as [{ text: string; isError: boolean }];
    const child = await threadOf(test, id, 'child');
    expect(text).toMatch(/2 files changed in its own worktree \(branch fleetloom\/\S+\), \+1 −1:/);
    expect(text).toContain('deleted README.md +0 −1\nadded a.txt +1 −0\n');
    expect(text).toContain(`Take them over with merge_changes {"thread_id": "${child}"}.`);
    expect(text).toContain('[It has changed no files in its own worktree (branch ');
  }));

it('[WS304] `merge_changes` merges three-way into the workspace of the coordinator; a second merge changes nothing, and later changes are merged alone', () =>
  withUser(async (test, user) => {
    await user.write('lines.txt', 'one\ntwo\nthree\nfour\nfive\n');
    user.git('add', '--all');
    user.git('commit', '--quiet', '--message=lines');
    const child = [
      [bash('sed -i s/one/ONE/ lines.txt; echo new > new.txt; chmod +x new.txt; ln -s new.txt link; rm README.md')],
      done,
      // So that its report comes after the turn that sent it.
      [bash('sleep 1; echo again > again.txt')],
      done,
    ];
    const script = [
      [delegate(['child'])],
      [bash('sed -i s/five/FIVE/ lines.txt')],
      done,
      [mergeNamed],
      [mergeNamed],
      done,
      [{ call: 'send_to_agent', input: { agent: 'child', message: 'More.', thread_id: '{{last_user}}' } }],
      done,
      done,
      [mergeNamed],
      done,
    ];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const thread = await threadOf(test, id, 'child');
    const workspace = join(test.directory, 'workspaces', id);
    await say(test, id, thread);
    const [merged, again] = await resultsOf(test, id, 'merge_changes');
    expect(merged).toEqual({
      text: `Merged the changes of ${thread} into your workspace, 4 files:\ndeleted README.md\nmodified lines.txt\nadded link\nadded new.txt`,
      isError: false,
    });
    expect(again!.text).toContain('has no changes that were not merged before');
    expect(readFileSync(join(workspace, 'lines.txt'), 'utf8')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n');
    const files = readOracle(workspace);
    expect([files['new.txt']?.slice(0, 6), files['link']?.slice(0, 6), files['README.md']]).toEqual([
      '100755',
      '120000',
      undefined,
    ]);
    const frames = await framesOf(test, id);
    const changed = frames.filter((frame) => frame.type === 'workspace.changed' && frame.payload.cause === 'merge');
    const [call] = frames.filter((frame) => frame.type === 'agent.tool_use' && frame.payload.name === 'merge_changes');
    expect(changed.map(({ payload }) => ('tool_use_id' in payload ? payload.tool_use_id : ''))).toEqual([
      'id' in call!.payload ? call!.payload.id : '',
    ]);
    expect(frames.filter(({ type }) => type === 'workspace.merge_ended')).toHaveLength(1);
    await say(test, id, thread);
    await say(test, id, thread);
    expect((await resultsOf(test, id, 'merge_changes')).at(-1)!.text).toContain('1 file:\nadded again.txt');
    expect(await readSnapshot(readSnapshots(test), id, (await lastTree(test, id))!)).toEqual(readOracle(workspace));
  }));

it('[WS305] a conflict is an error of the tool that lists the files and the lines, and nothing is written', () =>
  withUser(async (test, user) => {
    const child = [[bash('echo theirs > README.md; echo other > other.txt; echo x > .env')], done];
    const script = [[delegate(['child'])], [bash('echo ours > README.md')], done, [mergeNamed], done];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const before = readOracle(join(test.directory, 'workspaces', id));
    const thread = await threadOf(test, id, 'child');
    await say(test, id, thread);
    const [{ text, isError }] = (await resultsOf(test, id, 'merge_changes')) as [{ text: string; isError: boolean }];
    expect(isError).toBe(true);
    expect(text).toContain('and nothing was written');
    expect(text).toContain(
      'README.md: both changed the same lines\n<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs',
    );
    expect(text).not.toContain('other.txt');
    expect(readOracle(join(test.directory, 'workspaces', id))).toEqual(before);
    expect((await framesOf(test, id)).filter(({ type }) => type.startsWith('workspace.merge'))).toEqual([]);
  }));

it('[WS306] a file that is not recorded is not replaced by a merge: it is a conflict', () =>
  withUser(async (test, user) => {
    const child = [[write('.env', 'theirs\n'), write('big.bin', 'small\n')], done];
    const script = [
      [delegate(['child'])],
      [bash('echo ours > .env; head -c 11000000 /dev/zero > big.bin')],
      done,
      [mergeNamed],
      done,
    ];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    await say(test, id, await threadOf(test, id, 'child'));
    const [{ text, isError }] = (await resultsOf(test, id, 'merge_changes')) as [{ text: string; isError: boolean }];
    expect([isError, text]).toEqual([true, expect.stringContaining('.env: both changed the file')]);
    const workspace = join(test.directory, 'workspaces', id);
    expect(readFileSync(join(workspace, '.env'), 'utf8')).toBe('ours\n');
    expect(readFileSync(join(workspace, 'big.bin')).length).toBe(11_000_000);
  }));

it('[WS307] `POST /v1/sessions/{id}/changes/merge` merges a thread of an idle session, with a preview, and logs the name of the key', () =>
  withUser(async (test, user) => {
    const agents = {
      child: [[write('a.txt', 'a\n')], done],
      other: [[bash('echo theirs > README.md')], done],
      shared: [done],
    };
    const script = [[delegate(['child', 'other'])], [delegate(['shared'], null), bash('echo ours > README.md')], done];
    const id = await runFleet(test, { agents, script, resource: { path: user.path } });
    const changes = changesOf(test, id);
    const thread = await threadOf(test, id, 'child');
    const workspace = join(test.directory, 'workspaces', id);
    const { worktrees } = await changes.list();
    expect(worktrees?.map(({ agent_name, files_count, merged_at }) => [agent_name, files_count, merged_at])).toEqual([
      ['child', 1, null],
      ['other', 1, null],
    ]);
    const preview = await changes.merge({ thread_id: thread, dry_run: true });
    expect([toLines(preview.files), preview.cursor]).toEqual([['a.txt added 1 0'], null]);
    expect(existsSync(join(workspace, 'a.txt'))).toBe(false);
    const merged = await changes.merge({ thread_id: thread });
    expect(toLines(merged.files)).toEqual(['a.txt added 1 0']);
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('a\n');
    const frames = await framesOf(test, id);
    const ended = frames.find((frame) => frame.type === 'workspace.merge_ended')!;
    expect([merged.cursor, ended.payload.by, ended.payload.tool_use_id]).toEqual([
      String(ended.seq),
      'first key',
      null,
    ]);
    expect(await changes.merge({ thread_id: thread })).toMatchObject({ files: [], files_count: 0, cursor: null });
    const mergedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect((await changes.list()).worktrees).toMatchObject([
      { agent_name: 'child', files_count: 0, merged_at: mergedAt },
      { agent_name: 'other', files_count: 1, merged_at: null },
    ]);
    const conflict = await refusalOf(changes.merge({ thread_id: await threadOf(test, id, 'other') }));
    expect(conflict).toMatchObject({ status: 409, code: 'merge_conflict' });
    expect(conflict.details).toEqual({
      files: [
        {
          path: 'README.md',
          reason: 'content',
          places: 1,
          hunks: ['<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs'],
          text: 'both changed the same lines (in the workspace: line 1)',
        },
      ],
      files_count: 1,
    });
    const shared = await refusalOf(changes.merge({ thread_id: await threadOf(test, id, 'shared') }));
    expect(shared).toMatchObject({ status: 409, code: 'not_applicable' });
    expect(await refusalOf(changes.merge({ thread_id: 'sthr_none' }))).toMatchObject({ status: 409 });
    expect(readFileSync(join(workspace, 'README.md'), 'utf8')).toBe('ours\n');
  }));

it('[WS308] `thread` of changes, diff, tree and content shows the worktree of that thread', () =>
  withUser(async (test, user) => {
    const child = [[write('a.txt', 'a\n'), write('README.md', 'child\n')], done];
    const script = [[delegate(['child'])], [write('b.txt', 'b\n')], done];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const changes = changesOf(test, id);
    const thread = await threadOf(test, id, 'child');
    const own = await changes.list({ thread });
    expect(toLines(own.files)).toEqual(['README.md modified 1 1', 'a.txt added 1 0']);
    expect(own).toMatchObject({
      workspace: worktreeOf(test, id, thread),
      can_apply: { working_tree: false, branch: false },
    });
    expect(toLines((await changes.list()).files)).toEqual(['b.txt added 1 0']);
    expect((await changes.diff({ path: 'README.md', thread })).diff).toContain('+child');
    expect((await changes.diff({ path: 'README.md' })).status).toBe('unchanged');
    const paths = async (query: Record<string, string>) =>
      (await changes.tree(query)).entries.map(({ path }) => path).filter((path) => /^[ab]\.txt$/.test(path));
    expect([await paths({ thread }), await paths({})]).toEqual([['a.txt'], ['b.txt']]);
    expect((await changes.content({ path: 'a.txt', thread })).bytes.toString()).toBe('a\n');
    expect(await refusalOf(changes.content({ path: 'a.txt' }))).toMatchObject({ status: 404, code: 'path_not_found' });
  }));

it('[WS309] discarding names the worktrees with changes that were not merged and removes them, and so does deleting the session', () =>
  withUser(async (test, user) => {
    const agents = { child: [[write('a.txt', 'a\n')], done] };
    const script = [[delegate(['child'])], done, [delegate(['child'])], done];
    const id = await runFleet(test, { agents, script, resource: { path: user.path } });
    const changes = changesOf(test, id);
    const thread = await threadOf(test, id, 'child');
    const lost = await changes.discard({ dry_run: true });
    expect(lost.worktrees).toMatchObject([{ session_thread_id: thread, agent_name: 'child', files_count: 1 }]);
    expect(existsSync(worktreeOf(test, id, thread))).toBe(true);
    await changes.discard();
    expect(existsSync(worktreeOf(test, id, thread))).toBe(false);
    expect(await refusalOf(changes.merge({ thread_id: thread }))).toMatchObject({ status: 409 });
    await say(test, id);
    const second = (await threadsOf(test, id)).at(-1)![1];
    expect(existsSync(join(worktreeOf(test, id, second), 'a.txt'))).toBe(true);
    await test.client.beta.sessions.delete(id);
    await expect.poll(() => existsSync(join(test.directory, 'workspaces', `${id}.threads`))).toBe(false);
    await expect.poll(() => user.git('branch', '--list', 'fleetloom/*')).toBe('');
  }));

it('[WS310] a session without a directory or repository, and one on a read-only directory, has no worktrees for threads: the reason is in the result', async () => {
  await withServer(async (test) => {
    const agents = { child: [[write('a.txt', 'a\n')], done] };
    const id = await runFleet(test, {
      agents,
      script: [[delegate(['child'])], done, [mergeNamed], done],
      resource: null,
    });
    const [{ text, isError }] = (await resultsOf(test, id, 'delegate')) as [{ text: string; isError: boolean }];
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining(
        'child cannot have a worktree of its own: this session has neither a directory nor a repository',
      ),
    ]);
    expect(await threadsOf(test, id)).toEqual([]);
  });
  await withUser(async (test, user) => {
    const agents = { child: [[bash('ls')], done] };
    const resource = { path: user.path, mode: 'read_only' as const };
    const id = await runFleet(test, { agents, script: [[delegate(['child'])], done], resource });
    const [{ text }] = (await resultsOf(test, id, 'delegate')) as [{ text: string; isError: boolean }];
    expect(text).toContain('works on a read-only directory, so its threads cannot have worktrees of their own');
  });
});

it('[WS311] copies and directories in place can be isolated too: a thread has the files as they were, and its merge writes them', () =>
  withUser(async (test, user) => {
    for (const mode of ['copy', 'in_place'] as const) {
      const agents = { child: [[bash('cat README.md; echo child > README.md')], done] };
      const script = [[delegate(['child'])], done, [mergeNamed], done];
      const id = await runFleet(test, { agents, script, resource: { path: user.path, mode } });
      const thread = await threadOf(test, id, 'child');
      const workspace = mode === 'copy' ? join(test.directory, 'workspaces', id) : user.path;
      expect(readFileSync(join(workspace, 'README.md'), 'utf8')).toBe('second\n');
      await say(test, id, thread);
      expect(readFileSync(join(workspace, 'README.md'), 'utf8')).toBe('child\n');
      await test.client.beta.sessions.delete(id);
    }
  }));

it('[WS312] after a restart a thread goes on in its worktree, and one whose worktree is gone gets it again from its last snapshot', () =>
  withUser(async (test, user) => {
    const child = [
      [write('a.txt', 'a\n')],
      done,
      [bash('sleep 1; cat a.txt; echo b > b.txt')],
      done,
      [bash('cat b.txt; git status')],
      done,
    ];
    const follow = { call: 'send_to_agent', input: { agent: 'child', message: 'On.', thread_id: '{{last_user}}' } };
    const script = [[delegate(['child'])], done, [follow], done, done, [follow], done];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const thread = await threadOf(test, id, 'child');
    writeFileSync(join(worktreeOf(test, id, thread), 'kept.txt'), 'kept\n');
    const again = await test.restart();
    await say(again, id, thread);
    expect((await resultsOf(again, id, 'bash'))[0]!.text).toContain('a');
    const files = readOracle(worktreeOf(test, id, thread));
    expect(Object.keys(files)).toEqual(expect.arrayContaining(['a.txt', 'b.txt', 'kept.txt']));
    const last = await again.restart();
    rmSync(worktreeOf(test, id, thread), { recursive: true });
    await say(last, id, thread);
    expect((await resultsOf(last, id, 'bash'))[1]!.text).toMatch(/b\nOn branch fleetloom\//);
    expect(readOracle(worktreeOf(test, id, thread))).toEqual(files);
  }));

it('[WS313] a call that names a thread that is at work, is not a child or has no worktree is refused', () =>
  withUser(async (test, user) => {
    const agents = { shared: [done], child: [[bash('while ! test -e stop; do sleep 0.1; done')], done] };
    const merge = (thread_id: unknown) => ({ call: 'merge_changes', input: { thread_id } });
    const start = { call: 'send_to_agent', input: { agent: 'child', message: 'Go.' } };
    const script = [
      [delegate(['shared'], 'shared')],
      done,
      [mergeNamed],
      [merge('sthr_none'), merge(3)],
      [start],
      done,
      [mergeNamed],
      done,
    ];
    const id = await createFleet(test, { agents, script, isolation: 'worktree', resource: { path: user.path } });
    await say(test, id);
    const { events } = test.client.beta.sessions;
    const send = async (text: string) =>
      await events.send(id, { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
    await send(await threadOf(test, id, 'shared'));
    const isAtWork = async () => (await framesOf(test, id)).filter(({ type }) => type === 'tool.started').length === 2;
    await expect.poll(isAtWork, { timeout: 20_000 }).toBe(true);
    const child = await threadOf(test, id, 'child');
    await send(child);
    await expect.poll(async () => (await resultsOf(test, id, 'merge_changes')).length, { timeout: 20_000 }).toBe(4);
    writeFileSync(join(worktreeOf(test, id, child), 'stop'), '');
    await waitIdle(test, id);
    const results = await resultsOf(test, id, 'merge_changes');
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true]);
    expect(results[0]!.text).toContain('has no worktree of its own: its changes are in the workspace already');
    expect(results[1]!.text).toContain('there is no thread "sthr_none" below this one');
    expect(results[3]!.text).toContain(`${child} is at work: merge its changes when it has reported`);
  }));

it('[WS320] a thread below an isolated thread works in its worktree; one that is isolated too has another, which is merged into it', () =>
  withUser(async (test, user) => {
    const tools = [{ type: 'agent_toolset_20260401' as const }];
    await test.client.beta.agents.create({ name: 'worker', model: 'scripted/echo', tools });
    const task = (isolation: string, ...turns: (readonly object[])[]) => ({
      agent: 'worker',
      message: toScript([...turns, done]),
      isolation,
    });
    const below = [task('shared', [write('shared.txt', 's\n')]), task('worktree', [write('apart.txt', 'a\n')])];
    const own = task('worktree', [write('own.txt', 'o\n')], [{ call: 'delegate', input: { tasks: below } }]);
    const response = await fetch(`${test.url}/v1/orchestrate`, {
      method: 'POST',
      headers: { 'x-api-key': test.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        message: toScript([[{ call: 'delegate', input: { tasks: [own] } }], done]),
        agent_def: { name: 'master', model: 'scripted/echo', tools },
        resources: [{ type: 'directory', path: user.path }],
      }),
    });
    const id = /"session_id":"(\w+)"/.exec(await response.text())![1]!;
    const [outer, , inner] = (await threadsOf(test, id)).map(([, thread]) => thread) as [string, string, string];
    const names = (thread: string) =>
      Object.keys(readOracle(worktreeOf(test, id, thread))).filter((path) => /^[a-z]+\.txt$/.test(path));
    expect([names(outer), names(inner)]).toEqual([
      ['own.txt', 'shared.txt'],
      expect.arrayContaining(['apart.txt', 'own.txt']),
    ]);
    const changes = changesOf(test, id);
    expect(toLines((await changes.merge({ thread_id: inner })).files)).toEqual(['apart.txt added 1 0']);
    expect(names(outer)).toEqual(['apart.txt', 'own.txt', 'shared.txt']);
    expect(existsSync(join(test.directory, 'workspaces', id, 'apart.txt'))).toBe(false);
    const merged = await changes.merge({ thread_id: outer });
    expect(merged.files.map(({ path }) => path)).toEqual(['apart.txt', 'own.txt', 'shared.txt']);
    expect(toLines((await changes.list()).files)).toHaveLength(3);
  }));

it('[WS303] a report lists the first 50 changed files, and the number of all', () =>
  withUser(async (test, user) => {
    const make = (count: number) => [[bash(`for i in $(seq ${count}); do echo $i > f$i.txt; done`)], done];
    const script = [[delegate(['fifty', 'more'])], done];
    const id = await runFleet(test, {
      agents: { fifty: make(50), more: make(51) },
      script,
      resource: { path: user.path },
    });
    const [{ text }] = (await resultsOf(test, id, 'delegate')) as [{ text: string; isError: boolean }];
    expect(text).toContain('50 files changed in its own worktree');
    expect(text.match(/^added f\d+\.txt/gm)).toHaveLength(100);
    expect(text.match(/… and \d+ more/g)).toEqual(['… and 1 more']);
  }));

async function lastTree(test: { readonly url: string; readonly key: string }, id: string): Promise<string | undefined> {
  const last = (await framesOf(test, id)).findLast(
    (frame) => frame.type === 'workspace.changed' && frame.payload.workspace_thread_id === undefined,
  );
  return last?.type === 'workspace.changed' ? last.payload.tree : undefined;
}
