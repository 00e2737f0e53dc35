import { it } from 'vitest';
import { describeWithProgram } from '../support/programs.ts';
import { openOpencodePrograms, opencodeWords as words } from './open-opencode.ts';
import { runsOf, stopAtRandom } from './stops.suite.ts';

const runs = runsOf(6);

describeWithProgram('opencode', 'stops at random moments', ({ path }) => {
  it(
    '[OC30] interrupts, closes and kills at random moments leave no process, and every turn ends',
    async () => {
      // Without a sandbox: there the commands of opencode survive it.
      const create = () => openOpencodePrograms(path, { isSandboxed: false });
      await stopAtRandom({ create, words, runs, afterMs: 4_000, delegates: true });
    },
    runs * 60_000,
  );
});
