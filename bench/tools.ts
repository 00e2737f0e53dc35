import { ToolHosts } from '../packages/server/src/tools/host/server/tool-hosts.ts';
import { atMost, type Bench, comparePair, type Measured, median } from './harness.ts';
import { addFiles, createWorkspace, listByRipgrep, openInProcess, openSession } from './tools-session.ts';

/** The cost of running tools in a separate process. */
export const tools: Bench = {
  name: 'tools',
  cases: [
    { name: 'first-use', run: firstUse },
    { name: 'read', run: read },
    { name: 'bash', run: bash },
    { name: 'glob-10k', run: glob },
  ],
};

const FIRST_USES = 21;

/** The time from a session without a host to its first result. The sandbox was detected before, as in any server. */
async function firstUse(): Promise<Measured> {
  const workspace = createWorkspace();
  const hosts = new ToolHosts();
  const times: number[] = [];
  for (let round = 0; round <= FIRST_USES; round++) {
    const session = await openSession(workspace, hosts);
    const begin = performance.now();
    await session.read();
    if (round > 0) times.push(performance.now() - begin);
    await session.close();
  }
  workspace.remove();
  const value = median(times);
  return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 150 ms', ok: value <= 150 };
}

const READS = 100;
const READ_COST_MS = 2;

/** A small file, read by a running host, against the same read in this process. */
async function read(): Promise<Measured> {
  const workspace = createWorkspace();
  const session = await openSession(workspace);
  const inProcess = openInProcess(workspace);
  const repeat = (once: () => Promise<string>) => async () => {
    for (let count = 0; count < READS; count++) await once();
  };
  const pair = { floor: repeat(() => inProcess.read()), ours: repeat(() => session.read()) };
  const { floorMs, oursMs, ratio } = await comparePair(pair);
  await session.close();
  workspace.remove();
  const [value, floor] = [oursMs / READS, floorMs / READS];
  return { value, unit: 'ms', floor, ratio, goal: `<= ${READ_COST_MS} ms more`, ok: value - floor <= READ_COST_MS };
}

/** An empty command in a running shell. */
async function bash(): Promise<Measured> {
  const workspace = createWorkspace();
  const session = await openSession(workspace);
  await session.bash(':');
  const begin = performance.now();
  for (let count = 0; count < READS; count++) await session.bash(':');
  const value = (performance.now() - begin) / READS;
  await session.close();
  workspace.remove();
  return { value, unit: 'ms', floor: null, ratio: null, goal: 'reported', ok: true };
}

/** All of 10,000 files by name, sorted by age, against ripgrep, which only lists them. */
async function glob(): Promise<Measured> {
  const workspace = createWorkspace();
  addFiles(workspace, 10_000);
  const session = await openSession(workspace);
  const ours = async () => void (await session.glob('**/*.ts'));
  const pair = { floor: async () => void (await listByRipgrep(workspace)), ours };
  const times = await comparePair(pair);
  await session.close();
  workspace.remove();
  return atMost(4, times);
}
