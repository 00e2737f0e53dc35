import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf } from './changes.suite.ts';
import { createRecorded, framesOf, say } from './snapshots.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';
import {
  runUserGit,
  type UserRepository,
  withRepository,
} from '../../../packages/server/src/workspaces/repository.suite.ts';

const write = (path: string) => ({ call: 'write', input: { file_path: path, content: path } });
const NOT_UTF8 = Buffer.concat([Buffer.from('caf'), Buffer.from([0xe9])]);

it('[WS440] a repository that was moved fails the turn with the reason; the session is idle, and works once the repository is back', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('one.txt')], [{ say: 'done' }]], { path: user.path });
    await rename(user.path, `${user.path}-moved`);
    await say(test, id);
    expect(await errorsOf(test, id)).toEqual([
      expect.stringMatching(
        /^workspace_failed the workspace cannot be prepared: .*project was moved, or is not in a directory .*create/,
      ),
    ]);
    expect((await test.client.beta.sessions.retrieve(id)).status).toBe('idle');
    await say(test, id);
    expect(await errorsOf(test, id)).toHaveLength(2);
    await rename(`${user.path}-moved`, user.path);
    await say(test, id);
    expect(await errorsOf(test, id)).toHaveLength(2);
    expect((await framesOf(test, id)).map(({ type }) => type)).toContain('workspace.changed');
  }));

it('[WS440] a directory that cannot be copied fails the turn with the reason', () =>
  withUser(async (test, user) => {
    const path = join(user.root, 'plain');
    await mkdir(path);
    await writeFile(Buffer.concat([Buffer.from(`${path}/`), NOT_UTF8]), 'x');
    const id = await createRecorded(test, [[{ say: 'done' }]], { path, mode: 'copy' });
    await say(test, id);
    expect(await errorsOf(test, id)).toEqual([
      expect.stringMatching(
        /the directory cannot be copied: it has file names that are not UTF-8: caf\uFFFD: rename .*mode/u,
      ),
    ]);
    await rm(Buffer.concat([Buffer.from(`${path}/`), NOT_UTF8]));
    await say(test, id);
    expect(await errorsOf(test, id)).toHaveLength(1);
  }));

it('[WS440] an untracked name that is not UTF-8 in a repository without commits fails the turn once', () =>
  withUser(async (test, user) => {
    const path = join(user.root, 'empty');
    await mkdir(path);
    runUserGit(path, ['init', '--quiet']);
    await writeFile(Buffer.concat([Buffer.from(`${path}/`), NOT_UTF8]), 'x');
    const id = await createRecorded(test, [[{ say: 'done' }]], { path });
    await say(test, id);
    expect(await errorsOf(test, id)).toEqual([
      expect.stringMatching(/^workspace_failed the workspace cannot be prepared: .*not UTF-8/),
    ]);
  }));

it('[WS453] a worktree or copy whose directory was removed has the files that the session recorded last, after a restart too', () =>
  withUser(async (test, user) => {
    const again = { call: 'bash', input: { command: 'cat one.txt; ls' } };
    const turns = [[write('one.txt'), { call: 'bash', input: { command: 'rm README.md' } }], [{ say: 'done' }]];
    const script = [...turns, [again], [{ say: 'done' }], [again], [{ say: 'done' }]];
    const [ids, trees]: [string[], string[]] = [[], []];
    for (const mode of ['worktree', 'copy'] as const) {
      const id = await createRecorded(test, script, { path: user.path, mode });
      await say(test, id);
      const { tree } = (await changesOf(test, id).list()).to!;
      const workspace = join(test.directory, 'workspaces', id);
      await rm(workspace, { recursive: true });
      await say(test, id);
      expect([readFileSync(join(workspace, 'one.txt'), 'utf8'), existsSync(join(workspace, 'README.md'))]).toEqual([
        'one.txt',
        false,
      ]);
      expect((await changesOf(test, id).list()).to!.tree).toBe(tree);
      ids.push(id);
      trees.push(tree);
    }
    for (const id of ids) await rm(join(test.directory, 'workspaces', id), { recursive: true });
    const later = await test.restart();
    for (const id of ids) await say(later, id);
    expect(await Promise.all(ids.map(async (id) => (await changesOf(later, id).list()).to!.tree))).toEqual(trees);
  }));

function withUser(run: (test: TestServer, user: UserRepository) => Promise<void>): Promise<void> {
  return withRepository((user) =>
    withServer((test) => run(test, user), { allowedDirectories: [user.root], allowUnsandboxedBash: true }),
  );
}

async function errorsOf(test: TestServer, id: string): Promise<string[]> {
  return (await framesOf(test, id)).flatMap((frame) =>
    frame.type === 'session.error' ? [`${frame.payload.error.reason} ${frame.payload.error.message}`] : [],
  );
}
