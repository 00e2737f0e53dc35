import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf, refusalOf } from './changes.suite.ts';
import { createRecorded, say } from './snapshots.suite.ts';
import { withServer } from '../server.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

const SCRIPT = [
  [{ call: 'read', input: { file_path: 'README.md' } }],
  // Of a file that a call names what it had before is recorded, and survives.
  [{ call: 'bash', input: { command: 'echo agent > README.md' } }],
  [{ say: 'done' }],
];

it('[WS442] objects that the user has pruned are an error that says so, never a missing file or an internal error', () =>
  withRepository((user) =>
    withServer(
      async (test) => {
        // Its files are in no other commit.
        await user.write('src/only.ts', 'only\n');
        await user.write('README.md', 'pruned\n');
        // Files as young as the index are read, and recorded, once more.
        const earlier = new Date(Date.now() - 60_000);
        for (const file of ['src/only.ts', 'README.md']) await utimes(join(user.path, file), earlier, earlier);
        user.git('add', '--all');
        user.git('commit', '--quiet', '--message=pruned');
        const id = await createRecorded(test, SCRIPT, { path: user.path, mode: 'in_place' });
        await say(test, id);
        user.git('rm', '--quiet', '-r', '-f', '--cached', 'src');
        user.git('add', 'README.md');
        user.git('commit', '--quiet', '--amend', '--message=amended');
        user.git('reflog', 'expire', '--expire=now', '--all');
        user.git('gc', '--quiet', '--prune=now');
        const changes = changesOf(test, id);
        const requests = {
          list: () => changes.list(),
          diff: () => changes.diff({ path: 'README.md' }),
          diffs: () => changes.diffs(),
          tree: () => changes.tree({ at: 'start' }),
          content: () => changes.content({ path: 'src/only.ts', at: 'start' }),
          restore: () => changes.restore({ at: 'start' }),
        };
        for (const [name, request] of Object.entries(requests)) {
          const refusal = await refusalOf(request());
          expect([name, refusal.status, refusal.code]).toEqual([name, 409, 'not_recorded']);
          expect(refusal.message).toMatch(/does not have any more; `git gc` .*restore the commit/);
        }
        expect((await changes.steps()).steps.map(({ type }) => type)).toEqual(['opened', 'changed']);
      },
      { allowedDirectories: [user.root], allowUnsandboxedBash: true },
    ),
  ));
