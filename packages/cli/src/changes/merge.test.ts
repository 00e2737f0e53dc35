import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangesMerged, WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { expect, it, onTestFinished } from 'vitest';
import { script, startTestServer } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { createUserRepository } from '../../test-support/user-repository.ts';

const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const done = [{ say: 'done' }];

it('[WS315] merge takes the changes of a thread, diff and show read its worktree, discard names what was not merged, and a conflict exits with 5', async () => {
  const user = createUserRepository();
  const server = await startTestServer({ allowedDirectories: [user.path] });
  onTestFinished(() => server.close());
  const tools = [{ type: 'agent_toolset_20260401' }];
  await server.post('/v1/agents', { name: 'worker', model: 'scripted/echo', tools });
  const toTask = (...steps: object[]) => ({ agent: 'worker', message: script(steps, done), isolation: 'worktree' });
  const tasks = [toTask(write('b.txt', 'b\n')), toTask(write('a.txt', 'theirs\n'))];
  const message = script([{ call: 'delegate', input: { tasks } }], [write('a.txt', 'ours\n')], done);
  const { requestId, sessionId: id } = await server.begin(message, {
    agent_def: { name: 'master', model: 'scripted/echo', tools },
    resources: [{ type: 'directory', path: user.path }],
  });
  await server.ended(requestId);
  const on = (...args: readonly string[]) => call(args, { env: server.env });
  const { worktrees = [] } = JSON.parse((await on('diff', id, '--json')).stdout) as WorkspaceChanges;
  const [first, second] = worktrees.map(({ session_thread_id: thread }) => thread);
  expect((await on('diff', id, '--thread', first!)).stdout).toContain('+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n');
  expect(await on('show', `${id}:b.txt`, '--thread', first!)).toMatchObject({ code: 0, stdout: 'b\n' });
  expect(await on('show', `${id}:b.txt`)).toMatchObject({ code: 4 });
  expect((await on('merge', id, first!, '--dry-run')).stdout).toBe(
    ` A b.txt |    1 +\n 1 file changed, 1 insertion(+), 0 deletions(-)\nWould be merged from ${first}. Nothing was written.\n`,
  );
  const workspace = join(server.directory, 'workspaces', id);
  expect(existsSync(join(workspace, 'b.txt'))).toBe(false);
  expect((await on('merge', id, first!)).stdout).toContain(`Merged from ${first}.\n`);
  expect(readFileSync(join(workspace, 'b.txt'), 'utf8')).toBe('b\n');
  expect((await on('merge', id, first!)).stdout).toContain('Nothing to do');
  const json = JSON.parse((await on('merge', id, first!, '--json')).stdout) as ChangesMerged;
  expect([json.type, json.files_count]).toEqual(['changes_merged', 0]);
  const conflict = await on('merge', id, second!);
  expect(conflict).toMatchObject({ code: 5, stderr: expect.stringContaining('conflict with the workspace in a.txt') });
  // [Y217]
  expect(conflict.stderr).toContain('  a.txt  both changed the same lines (in the workspace: line 1)\n');
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('ours\n');
  const discarded = await on('discard', id, '--yes');
  expect(discarded.stderr).toContain(
    `and the worktree of worker (${second}) with 1 changed file that were not merged.`,
  );
  expect(existsSync(`${workspace}.threads`)).toBe(false);
});
