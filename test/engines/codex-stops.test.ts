import { it } from 'vitest';
import { describeWithProgram } from '../support/programs.ts';
import { directWords as words, openCodexPrograms } from './codex-programs.ts';
import { runsOf, stopAtRandom } from './stops.suite.ts';

const runs = runsOf(12);

describeWithProgram('codex', 'stops at random moments', ({ path }) => {
  it(
    '[CX38] interrupts, ends and kills at random moments leave no process, and an interrupted turn ends',
    async () => {
      const create = () => openCodexPrograms(path, 'codex/gpt-5.5');
      await stopAtRandom({ create, words, runs, afterMs: 600, delegates: true });
    },
    runs * 60_000,
  );
});
