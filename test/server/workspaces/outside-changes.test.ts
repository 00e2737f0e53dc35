import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf, refusalOf } from './changes.suite.ts';
import { createRecorded, framesOf, say } from './snapshots.suite.ts';
import { withServer } from '../server.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

const SCRIPT = [
  [{ call: 'write', input: { file_path: 'both.txt', content: 'agent\n' } }],
  [{ say: 'done' }],
  [{ call: 'bash', input: { command: 'echo agent >> both.txt; echo agent > agent.txt' } }],
  [{ say: 'done' }],
];

it('[WS610] changes that the user makes in place between two calls are not those of an agent, and a restore leaves it as it is', () =>
  withRepository(async (user) => {
    await withServer(
      async (test) => {
        const read = (path: string) => readFile(join(user.path, path), 'utf8');
        const id = await createRecorded(test, SCRIPT, { path: user.path, mode: 'in_place' });
        await say(test, id);
        await user.write('README.md', 'user\n');
        await user.write('mine.txt', 'mine\n');
        await rm(join(user.path, 'src/main.ts'));
        await writeFile(join(user.path, 'both.txt'), 'agent\nuser\n');
        await say(test, id);
        const found = (await framesOf(test, id)).filter((frame) => frame.type === 'workspace.changed');
        const calls = (await framesOf(test, id)).filter((frame) => frame.type === 'agent.tool_use');
        expect(
          found.map(({ thread_id: thread, payload }) => [
            payload.cause,
            thread === null,
            payload.tool_use_id,
            payload.files.map(({ path, status }) => `${status} ${path}`),
          ]),
        ).toEqual([
          ['tool', false, calls[0]!.payload.id, ['added both.txt']],
          ['outside', true, null, ['modified README.md', 'modified both.txt', 'added mine.txt', 'deleted src/main.ts']],
          ['tool', false, calls[1]!.payload.id, ['added agent.txt', 'modified both.txt']],
        ]);
        const changes = changesOf(test, id);
        const { files } = await changes.list({ thread: found[0]!.thread_id! });
        expect(files.map(({ path }) => path)).toEqual(['agent.txt', 'both.txt']);
        // Only a file that both have changed is in question.
        expect(await refusalOf(changes.restore({ at: 'start' }))).toMatchObject({
          code: 'restore_conflict',
          details: { files: [{ path: 'both.txt' }], files_count: 1 },
        });
        await changes.restore({ at: 'start', overwrite: true });
        expect(['both.txt', 'agent.txt', 'src/main.ts'].map((path) => existsSync(join(user.path, path)))).toEqual([
          false,
          false,
          false,
        ]);
        expect([await read('README.md'), await read('mine.txt')]).toEqual(['user\n', 'mine\n']);
      },
      { allowedDirectories: [user.root], allowUnsandboxedBash: true },
    );
  }));
