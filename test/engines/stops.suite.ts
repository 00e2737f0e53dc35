import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import {
  agent,
  converse,
  script,
  type TestedPrograms,
} from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { findDisorder } from '../../packages/server/src/engines/program/suite/find-disorder.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program/suite/words.suite.ts';
import { isLong, randomText } from '../support/seed.ts';

/** How often a program is stopped: 100 times with FLEETLOOM_LONG. */
export function runsOf(usual: number): number {
  return isLong ? 100 : usual;
}

/** What random stops need of a program. */
export interface StoppedProgram {
  readonly create: () => Promise<TestedPrograms>;
  readonly words: ProgramWords;
  readonly runs: number;
  /** The latest moment of a stop, after the program has opened its conversation. */
  readonly afterMs: number;
  /** Whether its main agent delegates to a sub-agent with commands of its own. */
  readonly delegates: boolean;
}

/** Interrupts, closes and kills a program at random moments: no process and no temporary file is left, and every turn ends. */
export async function stopAtRandom({ create, words, runs, afterMs, delegates }: StoppedProgram): Promise<void> {
  const random = randomText();
  const before = new Set(readdirSync(tmpdir()));
  const tested = await create();
  try {
    for (let run = 0; run < runs; run++) {
      const { program, events, next } = await converse(tested, { members: [agent({ name: 'worker' })] });
      const child = [[words.bash('sleep 1000 & sleep 0.2')], [{ say: 'Found.' }], [words.bash('sleep 1000')]];
      const first = delegates
        ? words.delegate('worker', 'look', `Go. ${script(...child)}`)
        : words.bash('sleep 1000 & sleep 0.2');
      const turns = [[{ say: 'I look around.', chunks: 5, every_ms: 20 }, first], [words.bash('sleep 1000')]];
      program.say([{ type: 'text', text: `Go. ${script(...turns)}` }]);
      await next('opened');
      await sleep(random.below(afterMs));
      const kind = random.pick(['interrupt', 'close', 'kill']);
      if (kind === 'interrupt') {
        program.interrupt();
        await next('turn_ended');
      }
      const { pid } = program.vitals();
      if (kind === 'kill' && pid !== null) process.kill(-pid, 'SIGKILL');
      await program.close();
      expect([run, kind, findDisorder(events)]).toEqual([run, kind, []]);
      expect(events.at(-1)).toMatchObject({ type: 'exited' });
      await vi.waitFor(() => expect([run, kind, tested.countProcesses()]).toEqual([run, kind, 0]), 60_000);
    }
  } finally {
    await tested.close();
  }
  // Other tests make directories of their own at the same time.
  const left = readdirSync(tmpdir()).filter((name) => !before.has(name) && !name.startsWith('fleetloom-'));
  expect(left.filter((name) => /codex|opencode|acp/i.test(name))).toEqual([]);
}
