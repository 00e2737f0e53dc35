import { expect, it } from 'vitest';
import { changesOf } from './changes.suite.ts';
import { createRecorded, say } from './snapshots.suite.ts';
import { withServer } from '../server.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import { snapshotLimits } from '../../../packages/server/src/workspaces/snapshots/objects/limits.ts';

it.each(['worktree', 'in_place'] as const)(
  '[WS235] an ignored file that existed before is listed as not recorded when it changes (%s)',
  (mode) =>
    withRepository(async (user) => {
      const name = (at: number) => `${String(at).padStart(5, '0')}.ign`;
      // With .env, which comes before them, one more than the limit.
      const count = mode === 'in_place' ? snapshotLimits.ignoredStampsMax : 2;
      const last = [name(count - 1), name(count)];
      await user.write('.git/info/exclude', '*.ign\n');
      await user.write('.worktreeinclude', '.env\n*.ign\n');
      for (let at = 1; at <= count; at++) await user.write(name(at), 'x\n');
      const command = `echo SECRET=2 > .env; echo y >> ${last.join('; echo y >> ')}`;
      const script = [[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]];
      const changed = [[{ call: 'bash', input: { command } }], [{ say: 'done' }]];
      await withServer(
        async (test) => {
          const id = await createRecorded(test, [...script, ...changed], { path: user.path, mode });
          await say(test, id);
          expect(await changesOf(test, id).list()).toMatchObject({ not_recorded: [] });
          await say(test, id);
          const seen = mode === 'in_place' ? last.slice(0, 1) : last;
          expect((await changesOf(test, id).list()).not_recorded).toEqual(
            ['.env', ...seen].map((path) => ({ path, reason: 'ignored' })),
          );
        },
        { allowedDirectories: [user.root], allowUnsandboxedBash: true },
      );
    }),
);
