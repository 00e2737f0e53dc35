import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseFleetEvent, type WorkspaceChanged } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { expect, it } from 'vitest';
import { withServer, type TestServer } from '../server.suite.ts';
import { createRecorded, framesOf, readSnapshots, say } from './snapshots.suite.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import { readOracle, readSnapshot } from '../../../packages/server/src/workspaces/snapshots/snapshots.suite.ts';
import { viewLimits } from '../../../packages/server/src/views/limits.ts';

const bash = (command: string) => ({ call: 'bash', input: { command } });
const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const done = [{ say: 'done' }];

it('[WS70] the workspace is recorded before the first model request, and each change is logged before the tool result it belongs to', () =>
  withUser(async (test, user) => {
    const script = [
      [write('/workspace/a.txt', 'one\ntwo\n')],
      [{ call: 'edit', input: { file_path: 'a.txt', old_string: 'two', new_string: '2' } }],
      [{ call: 'read', input: { file_path: 'a.txt' } }],
      [bash('rm README.md; mkdir -p deep; echo x > deep/x.txt')],
      [bash('true')],
      done,
    ];
    const id = await createRecorded(test, script, { path: user.path });
    await say(test, id);
    const frames = await framesOf(test, id);
    const opened = frames.find((frame) => frame.type === 'workspace.opened')!;
    const commit = user.git('rev-parse', 'HEAD');
    expect(opened.payload).toMatchObject({
      tree: user.git('rev-parse', 'HEAD^{tree}'),
      source: 'directory',
      base: { commit },
    });
    const first = frames.find((frame) => frame.type === 'span.model_request_end')!;
    expect(opened.seq).toBeLessThan(first.seq);
    const changes = frames.filter((frame) => frame.type === 'workspace.changed');
    expect(changes.map(({ payload }) => payload.files.map((file) => Object.values(file).join(' ')))).toEqual([
      ['a.txt added 2 0'],
      ['a.txt modified 1 1'],
      ['README.md deleted 0 1', 'deep/x.txt added 1 0'],
    ]);
    let tree: string = opened.payload.tree;
    for (const { seq, payload, thread_id, turn } of changes) {
      expect(payload.parent).toBe(tree);
      tree = payload.tree;
      const result = frames.find((frame) => frame.seq === seq + 1)!;
      expect(result.type === 'agent.tool_result' && result.payload.tool_use_id).toBe(payload.tool_use_id);
      expect([thread_id, turn?.stream_id]).toEqual([result.thread_id, result.turn?.stream_id]);
    }
    expect(await readSnapshot(readSnapshots(test), id, tree)).toEqual(
      readOracle(join(test.directory, 'workspaces', id)),
    );
  }));

it('[WS71] the end of a turn is logged after one more record: what a process wrote after its tool call is in the log', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[bash('echo started')], [{ sleep_ms: 2_000 }, ...done]], {
      path: user.path,
    });
    const working = say(test, id);
    const isCalled = async () => (await framesOf(test, id)).some(({ type }) => type === 'agent.tool_result');
    await expect.poll(isCalled, { timeout: 20_000 }).toBe(true);
    await writeFile(join(test.directory, 'workspaces', id, 'late.txt'), 'late\n');
    await working;
    const frames = await framesOf(test, id);
    const changed = frames.find((frame) => frame.type === 'workspace.changed')!;
    expect(changed.payload).toMatchObject({ cause: 'turn', tool_use_id: null, files: [{ path: 'late.txt' }] });
    expect(changed.seq).toBeLessThan(frames.find((frame) => frame.type === 'turn.ended')!.seq);
  }));

it('[WS72] the fleet stream has workspace_changed with exact counts and the first 20 files; Managed Agents clients see nothing new', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[bash('for i in $(seq 100 124); do echo $i > $i.txt; done')], done], {
      path: user.path,
    });
    await say(test, id);
    const response = await fetch(`${test.url}/v1/sessions/${id}/fleet?after=0`, {
      headers: { 'x-api-key': test.key },
      signal: AbortSignal.timeout(20_000),
    });
    let found: WorkspaceChanged | undefined;
    const decoder = new SseDecoder();
    for await (const bytes of response.body!) {
      const items = decoder.push(bytes).filter((item) => item.type === 'event');
      for (const event of items.map(parseFleetEvent)) if (event.type === 'workspace_changed') found = event;
      if (found !== undefined) break;
    }
    const changed = (await framesOf(test, id)).find((frame) => frame.type === 'workspace.changed')!;
    const { tree, tool_use_id } = changed.payload;
    expect(found).toMatchObject({
      session_id: id,
      thread_id: changed.thread_id,
      turn: 0,
      tool_use_id,
      tree,
      files_count: 25,
      lines_added: 25,
      lines_removed: 0,
    });
    expect(found!.files).toEqual(changed.payload.files.slice(0, viewLimits.workspaceFilesMax));
    expect(viewLimits.workspaceFilesMax).toBe(20);
    const types: string[] = [];
    for await (const event of test.client.beta.sessions.events.list(id)) types.push(event.type);
    expect(types.filter((type) => type.includes('workspace'))).toEqual([]);
  }));

it('[WS73] a fork starts with the files of the cursor it was made at, in a worktree of its own', () =>
  withUser(async (test, user) => {
    const script = [
      [write('a.txt', 'first\n'), bash('rm README.md')],
      done,
      [write('a.txt', 'second\n')],
      done,
      [bash('cat a.txt; echo fork > f.txt')],
      done,
    ];
    const id = await createRecorded(test, script, { path: user.path });
    await say(test, id);
    const at = (await framesOf(test, id)).at(-1)!.seq;
    await say(test, id);
    const response = await fetch(`${test.url}/v1/sessions/${id}/fork`, {
      method: 'POST',
      headers: { 'x-api-key': test.key, 'content-type': 'application/json' },
      body: JSON.stringify({ at: `${at}` }),
    });
    const fork = (await response.json()) as { id: string };
    await say(test, fork.id);
    const workspace = (session: string) => join(test.directory, 'workspaces', session);
    expect(await readFile(join(workspace(id), 'a.txt'), 'utf8')).toBe('second\n');
    // The script of the fork goes on where it was: it writes the second content again.
    const changes = (await framesOf(test, fork.id)).filter((frame) => frame.type === 'workspace.changed');
    expect(changes.at(-1)!.payload.files).toEqual([{ path: 'a.txt', status: 'modified', added: 1, removed: 1 }]);
    expect(existsSync(join(workspace(fork.id), 'README.md'))).toBe(false);
    const { tree } = changes.at(-1)!.payload;
    await test.client.beta.sessions.delete(id);
    await expect.poll(() => existsSync(join(test.directory, 'snapshots', id))).toBe(false);
    expect(await readSnapshot(readSnapshots(test), fork.id, tree)).toEqual(readOracle(workspace(fork.id)));
  }));

it('[WS74] after a restart of the server recording goes on from the last logged tree', () =>
  withUser(async (test, user) => {
    const script = [[write('a.txt', 'a\n')], done, [bash('echo b > b.txt; rm a.txt')], done];
    const id = await createRecorded(test, script, { path: user.path });
    await say(test, id);
    const later = await test.restart();
    await say(later, id);
    const frames = await framesOf(later, id);
    const changes = frames.filter((frame) => frame.type === 'workspace.changed');
    expect(frames.filter((frame) => frame.type === 'workspace.opened')).toHaveLength(1);
    expect(changes).toHaveLength(2);
    expect(changes[1]!.payload.parent).toBe(changes[0]!.payload.tree);
    expect(await readSnapshot(readSnapshots(later), id, changes[1]!.payload.tree)).toEqual(
      readOracle(join(test.directory, 'workspaces', id)),
    );
  }));

it('[WS75] a setup command is logged with its output before the workspace; one that fails ends the session with its reason', () =>
  withUser(async (test, user) => {
    const good = await createRecorded(test, [done], { path: user.path, setup: 'echo prepared > ready.txt; echo ok' });
    await say(test, good);
    const frames = await framesOf(test, good);
    const types = frames.map(({ type }) => type).filter((type) => type.startsWith('workspace.'));
    expect(types).toEqual(['workspace.setup', 'workspace.opened']);
    const opened = frames.find((frame) => frame.type === 'workspace.opened')!;
    expect(Object.keys(await readSnapshot(readSnapshots(test), good, opened.payload.tree))).toContain('ready.txt');
    const bad = await createRecorded(test, [done], { path: user.path, setup: 'echo no such thing >&2; exit 3' });
    await say(test, bad);
    const failed = await framesOf(test, bad);
    const error = failed.find((frame) => frame.type === 'session.error')!;
    expect(error.payload.error.message).toMatch(/the setup command `.*` ended with exit code 3 \(no such thing\)/);
    expect(failed.find((frame) => frame.type === 'workspace.setup')!.payload).toMatchObject({ code: 3 });
    expect((await test.client.beta.sessions.retrieve(bad)).status).toBe('terminated');
    expect(failed.some((frame) => frame.type === 'agent.message')).toBe(false);
  }));

it('[WS76] a session without a source is not recorded: no snapshot repository exists and no frame is written', () =>
  withUser(async (test) => {
    const id = await createRecorded(test, [[write('a.txt', 'a\n'), bash('echo b > b.txt')], done], null);
    await say(test, id);
    expect((await framesOf(test, id)).filter(({ type }) => type.startsWith('workspace.'))).toEqual([]);
    expect(await readdir(join(test.directory, 'snapshots')).catch(() => [])).toEqual([]);
  }));

/** Runs with a server that allows the directory of a user's repository. */
function withUser(run: (test: TestServer, user: UserRepository) => Promise<void>): Promise<void> {
  return withRepository((user) =>
    withServer((test) => run(test, user), { allowedDirectories: [user.root], allowUnsandboxedBash: true }),
  );
}
