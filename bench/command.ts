import { type Bench, comparePair, type Measured } from './harness.ts';
import { createFolder, runNode } from './command-runs.ts';

/** The command line, as a user starts it. */
export const command: Bench = {
  name: 'command',
  cases: [{ name: 'run', run }],
};

const LIMIT_MS = 350;

/** `fleetloom run` of a task that takes no time, with its own server, against an empty Node program. */
async function run(): Promise<Measured> {
  const folder = createFolder();
  const pair = {
    floor: async () => void (await runNode(folder.path, ['--eval', '0'])),
    ours: async () => void (await runNode(folder.path, folder.command('Hello'))),
  };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 7, budgetMs: 20_000 });
  folder.remove();
  return { value: oursMs, unit: 'ms', floor: floorMs, ratio, goal: `<= ${LIMIT_MS} ms`, ok: oursMs <= LIMIT_MS };
}
