import { setMaxListeners } from 'node:events';
import { watchFleet } from '@fleetloom/client';
import { type Bench, type Measured, median } from './harness.ts';
import { measureEventCost, measureIdleCost } from './nodes-cost.ts';
import { startDatabase, startServers, type Servers } from './nodes-servers.ts';
import { createSession, openIdle, runLoad, sendMessage } from './nodes-load.ts';

/** Nodes on one database against the server with its own file, both over HTTP and in the same run. */
export const nodes: Bench = {
  name: 'nodes',
  cases: [
    { name: 'events-1', run: () => events(1) },
    { name: 'events-3', run: () => events(3) },
    { name: 'delay-p50-1', run: () => delay(1, 0.5) },
    { name: 'delay-p99-1', run: () => delay(1, 0.99) },
    { name: 'delay-p50-3', run: () => delay(3, 0.5) },
    { name: 'delay-p99-3', run: () => delay(3, 0.99) },
    { name: 'take-over', run: takeOver },
    { name: 'idle-1000-memory', run: () => idle('MB') },
    { name: 'idle-1000-cpu', run: () => idle('ms/s') },
    { name: 'event-cpu-node', run: async () => reported((await measureEventCost()).nodeUs, 'µs') },
    { name: 'event-cpu-database', run: async () => reported((await measureEventCost()).databaseUs, 'µs') },
    { name: 'event-wal', run: async () => reported((await measureEventCost()).walBytes, 'B') },
    { name: 'idle-5000-cpu', run: async () => atMost(0.5, (await measureIdleCost()).cpuPercent, '%') },
    {
      name: 'idle-5000-transactions',
      run: async () => atMost(20, (await measureIdleCost()).transactionsPerSecond, '/s'),
    },
  ],
};

/** More than a server can handle: sixty sessions that never pause. */
const RUSH = { sessions: 60, chunks: 2_000, everyMs: 1 };
/** A slow pace, at which the delay is only the path of an event. */
const STROLL = { sessions: 20, chunks: 100, everyMs: 50 };
/** Lets every process compile its code. */
const WARM_UP = { sessions: 30, chunks: 500, everyMs: 1 };

/** 0 nodes: the server with its own file. */
function ratesOf(count: number): Promise<number> {
  return withServers(count, async ({ urls }) => {
    await runLoad(urls, WARM_UP);
    const rates: number[] = [];
    for (let round = 0; round < 3; round++) {
      const { events: received, ms } = await runLoad(urls, RUSH);
      rates.push((received / ms) * 1_000);
    }
    return median(rates);
  });
}

async function events(count: number): Promise<Measured> {
  const [value, floor] = [await ratesOf(count), await ratesOf(0)];
  return { value, unit: '/s', floor, ratio: value / floor, goal: 'reported', ok: true };
}

async function delay(count: number, part: number): Promise<Measured> {
  const delayOf = (nodeCount: number) =>
    withServers(nodeCount, async ({ urls }) => {
      await runLoad(urls, WARM_UP);
      const { delaysMs } = await runLoad(urls, STROLL);
      return quantile(delaysMs, part);
    });
  const [value, floor] = [await delayOf(count), await delayOf(0)];
  return { value, unit: 'ms', floor, ratio: value / Math.max(floor, 1), goal: 'reported', ok: true };
}

/** From the kill of a node to the first text of its session on another node. */
async function takeOver(): Promise<Measured> {
  const value = await withServers(2, async ({ urls, kill }) => {
    const session = await createSession(urls[0]!, { chunks: 10_000, everyMs: 10 });
    await sendMessage(urls[0]!, session);
    const watch = watchFleet({ url: urls[1]!, session, gate: 'off' });
    let killedAt: number | undefined;
    for await (const event of watch) {
      if (event.type === 'text' && killedAt === undefined) {
        kill(0);
        killedAt = performance.now();
      } else if (killedAt !== undefined && event.type === 'request_retrying') break;
    }
    await watch.return();
    return performance.now() - killedAt!;
  });
  return atMost(8_000, value, 'ms');
}

const IDLE = 1_000;

async function idle(unit: 'MB' | 'ms/s'): Promise<Measured> {
  const costOf = (count: number) =>
    withServers(count, async ({ urls, look }) => {
      const session = await createSession(urls[0]!, { chunks: 1, everyMs: 0 });
      await openIdle(urls[0]!, session, 50).then((leave) => leave());
      await rest(1_000);
      const [before, quiet] = [await look(), await watchCpu(look)];
      const leave = await openIdle(urls[0]!, session, IDLE);
      await rest(1_000);
      const [after, busy] = [await look(), await watchCpu(look)];
      leave();
      return unit === 'MB' ? (after.bytes - before.bytes) / 1_000_000 : Math.max(0, busy - quiet);
    });
  const [value, floor] = [await costOf(1), await costOf(0)];
  return { value, unit, floor, ratio: floor > 0 ? value / floor : null, goal: 'reported', ok: true };
}

function reported(value: number, unit: string): Measured {
  return { value, unit, floor: null, ratio: null, goal: 'reported', ok: true };
}

function atMost(most: number, value: number, unit: string): Measured {
  return { value, unit, floor: null, ratio: null, goal: `<= ${most} ${unit}`, ok: value <= most };
}

/** CPU milliseconds per second. */
async function watchCpu(look: Servers['look']): Promise<number> {
  const before = await look();
  await rest(10_000);
  return ((await look()).cpuMs - before.cpuMs) / 10;
}

async function withServers<Result>(count: number, run: (servers: Servers) => Promise<Result>): Promise<Result> {
  setMaxListeners(0, process);
  const database = count === 0 ? undefined : await startDatabase();
  const servers = await startServers(Math.max(1, count), database?.url);
  try {
    return await run(servers);
  } finally {
    await servers.close();
    await database?.stop();
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
