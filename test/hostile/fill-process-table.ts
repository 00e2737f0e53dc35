import { expect } from 'vitest';
import { forEachAtOnce, runSession } from './run-session.ts';
import type { PidsGroup } from './pids-group.ts';
import type { Victim } from './victim.ts';

/** Room for the processes of one tool host, and little more. */
const MORE_PROCESSES = 40;

/** Fork bombs of several sessions on a server that may have few processes. Each call gets a result, and afterwards tools work. */
export async function fillProcessTable({ attacker }: Victim, group: PidsGroup, rounds: number): Promise<void> {
  const max = group.count() + MORE_PROCESSES;
  group.setMax(max);
  const outcomes: string[] = [];
  const commands = [':(){ :|:& };:', 'for i in $(seq 1 100); do sleep 3 & done; wait', 'echo ok'];
  await forEachAtOnce(
    Array.from({ length: 6 * rounds }, (_, index) => index),
    6,
    async (index) => {
      const command = commands[index % commands.length];
      const calls = [
        { call: 'bash', input: { command, timeout_ms: 3_000 } },
        { call: 'grep', input: { pattern: 'x' } },
        { call: 'write', input: { file_path: 'a', content: 'b' } },
      ];
      const { results, errors } = await runSession(attacker, { turns: [calls, [{ say: 'done' }]] });
      outcomes.push(...results);
      expect([results.length, errors]).toEqual([calls.length, []]);
    },
  );
  console.log(`with ${max} processes: ${[...new Set(outcomes.map((text) => text.slice(0, 200)))].join('\n')}`);
  group.setMax('max');
  await expect
    .poll(async () => {
      const turns = [[{ call: 'bash', input: { command: 'echo works' } }], [{ say: 'done' }]];
      return (await runSession(attacker, { turns })).results;
    })
    .toEqual([expect.stringContaining('works')]);
}
