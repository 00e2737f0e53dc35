import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import { withServer } from '../server.suite.ts';
import { changesOf, toLines } from './changes.suite.ts';
import { createRecorded, framesOf, say } from './snapshots.suite.ts';

const SCRIPT = [[{ call: 'write', input: { file_path: 'a.txt', content: 'agent\n' } }], [{ say: 'done' }]];
const RECORDED = 'a.txt added 1 0';
const EDITED = ['README.md modified 1 1', 'a.txt added 2 0', 'mine.txt added 1 0'];

it.each(['worktree', 'copy'] as const)(
  '[WS705] edits of the user in the workspace of an idle session are recorded before they are applied, and named before they are discarded (%s)',
  (mode) =>
    withRepository((user) =>
      withServer(
        async (test) => {
          const id = await createRecorded(test, SCRIPT, { path: user.path, mode });
          await say(test, id);
          const changes = changesOf(test, id);
          const before = await framesOf(test, id);
          expect(toLines((await changes.apply({ dry_run: true })).files)).toEqual([RECORDED]);
          expect(await framesOf(test, id)).toEqual(before);

          const workspace = join(test.directory, 'workspaces', id);
          await writeFile(join(workspace, 'a.txt'), 'agent\nmine\n');
          await writeFile(join(workspace, 'README.md'), 'edited\n');
          await writeFile(join(workspace, 'mine.txt'), 'mine\n');
          expect(toLines((await changes.discard({ dry_run: true })).files)).toEqual(EDITED);
          const found = (await framesOf(test, id)).slice(before.length);
          expect(found).toMatchObject([
            { type: 'workspace.changed', thread_id: null, payload: { tool_use_id: null, files_count: 3 } },
          ]);
          // An application of an earlier moment has only what was recorded by then.
          const at = String(before.at(-1)!.seq);
          expect(toLines((await changes.apply({ dry_run: true, at })).files)).toEqual([RECORDED]);
          await writeFile(join(workspace, 'a.txt'), 'agent\nmine, too\n');
          expect(toLines((await changes.apply()).files)).toEqual(EDITED);
          expect(await readFile(join(user.path, 'a.txt'), 'utf8')).toBe('agent\nmine, too\n');
        },
        { allowedDirectories: [user.root] },
      ),
    ),
);

it('[WS705] a running and an archived session are applied as they were recorded last', () =>
  withRepository((user) =>
    withServer(
      async (test) => {
        const wait = { call: 'bash', input: { command: 'until [ -e go ]; do sleep 0.05; done' } };
        const script = [...SCRIPT.slice(0, 1), [wait], [{ say: 'done' }]];
        const id = await createRecorded(test, script, { path: user.path });
        const changes = changesOf(test, id);
        const running = say(test, id);
        await expect
          .poll(async () => (await framesOf(test, id)).filter(({ type }) => type === 'agent.tool_use').length, {
            timeout: 20_000,
          })
          .toBe(2);
        const workspace = join(test.directory, 'workspaces', id);
        await writeFile(join(workspace, 'mine.txt'), 'mine\n');
        expect(toLines((await changes.apply({ dry_run: true })).files)).toEqual([RECORDED]);
        await writeFile(join(workspace, 'go'), '');
        await running;
        await test.client.beta.sessions.archive(id);
        await writeFile(join(workspace, 'later.txt'), 'mine\n');
        const files = ['a.txt added 1 0', 'go added 0 0', 'mine.txt added 1 0'];
        expect(toLines((await changes.apply()).files)).toEqual(files);
      },
      { allowedDirectories: [user.root], allowUnsandboxedBash: true },
    ),
  ));
