import { type Bench, comparePair, type Measured } from './harness.ts';
import { measureBareDelays } from './bare-delays.ts';
import { openIdleFleet } from './fleet-idle.ts';
import { openBareServer, openBenchServer, toFrames } from './fleet-server.ts';
import { measureBarePaced, measurePaced } from './paced-sessions.ts';

/** The fleet routes: a request over HTTP, from the engine through the log on disk to a client. */
export const fleet: Bench = {
  name: 'fleet',
  cases: [
    { name: 'fan-out-16', run: fanOut },
    { name: 'latency-p50', run: () => latency(0.5, 2) },
    { name: 'latency-p99', run: () => latency(0.99, 10) },
    { name: 'latency-p99-64-sessions', run: sessionsLatency },
    { name: 'sessions-per-core', run: sessionsPerCore },
    { name: 'block-16', run: block },
    { name: 'cancel-16', run: cancel },
    { name: 'memory-per-stream', run: memory },
    { name: 'idle-reader-10k', run: idleReader },
  ],
};

const AGENTS = 16;
const DELTAS = 96_000;

/** All text of sixteen concurrent agents, durable, against a bare server that writes one frame per delta. */
async function fanOut(): Promise<Measured> {
  const server = await openBenchServer();
  const bare = await openBareServer(await toFrames(server, AGENTS));
  const pair = { floor: () => bare.write(DELTAS), ours: () => server.run(AGENTS, { deltas: DELTAS / AGENTS }) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11, budgetMs: 20_000 });
  await server.close();
  await bare.close();
  const [value, floor] = [oursMs, floorMs].map((ms) => (DELTAS / ms) * 1_000) as [number, number];
  return { value, unit: '/s', floor, ratio: 1 / ratio, goal: '>= 0.75x', ok: 1 / ratio >= 0.75 };
}

/**
 * The delay of a delta from the engine to the client, with 16 agents at 200 deltas per second. The goal is for an idle machine;
 * the floor, the same with only a synced file in between, shows whether this machine was idle.
 */
async function latency(quantile: number, limitMs: number): Promise<Measured> {
  const perSecond = 200;
  const bare = await measureBareDelays(AGENTS, { deltas: 3 * perSecond, perSecond });
  const server = await openBenchServer();
  const { delaysMs } = await server.measure(AGENTS, { deltas: 6 * perSecond, perSecond });
  await server.close();
  // The code is compiled during the first second.
  const [floor, value] = [bare, delaysMs].map((all) => quantileOf(all.slice(AGENTS * perSecond), quantile)) as [
    number,
    number,
  ];
  return { value, unit: 'ms', floor, ratio: value / floor, goal: `<= ${limitMs} ms`, ok: value <= limitMs };
}

const PACED = { sessions: 64, perSecond: 200, seconds: 8 };

/** The delay of a delta from the engine to the client, with 64 sessions at 200 deltas per second each. */
async function sessionsLatency(): Promise<Measured> {
  const floor = quantileOf((await measureBarePaced(PACED)).delaysMs, 0.99);
  const value = quantileOf((await measurePaced(PACED)).delaysMs, 0.99);
  return { value, unit: 'ms', floor, ratio: value / floor, goal: '<= 40 ms', ok: value <= 40 };
}

/** Sessions at 200 deltas per second, each with a reader, for which one core is enough, by the processor time that 64 of them take. */
async function sessionsPerCore(): Promise<Measured> {
  const floor = PACED.sessions / (await measureBarePaced(PACED)).cores;
  const value = PACED.sessions / (await measurePaced(PACED)).cores;
  return { value, unit: 'sessions', floor, ratio: value / floor, goal: '>= 200 sessions', ok: value >= 200 };
}

function quantileOf(values: readonly number[], quantile: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(quantile * (values.length - 1))]!;
}

/** A block of sixteen turns against a block of one, each half a second long: they must run at the same time. */
async function block(): Promise<Measured> {
  const work = { deltas: 100, perSecond: 200 };
  const server = await openBenchServer();
  const pair = { floor: () => server.run(1, work), ours: () => server.run(AGENTS, work) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 5, budgetMs: 12_000 });
  await server.close();
  return { value: oursMs, unit: 'ms', floor: floorMs, ratio, goal: '<= 1.5x', ok: ratio <= 1.5 };
}

/** From the cancel of a block of sixteen to the end of its stream. */
async function cancel(): Promise<Measured> {
  const server = await openBenchServer();
  const times: number[] = [];
  for (let round = 0; round < 7; round++) times.push((await server.cancel(AGENTS)).tookMs);
  await server.close();
  const value = quantileOf(times, 0.5);
  return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 1000 ms', ok: value <= 1_000 };
}

/** The memory of a thousand open streams, with both ends of the connections in this process. */
async function memory(): Promise<Measured> {
  const streams = 1_000;
  const server = await openBenchServer();
  // Allocates everything that is created once.
  (await server.openStreams(50))();
  const before = await usedBytes();
  const close = await server.openStreams(streams);
  const value = ((await usedBytes()) - before) / streams / 1_024;
  close();
  await server.close();
  return { value, unit: 'KiB', floor: null, ratio: null, goal: '<= 64 KiB', ok: value <= 64 };
}

const READERS = 50;
const READER_MS = 0.2;

/** What one reader of `/v1/fleet` costs while nothing happens in 10,000 sessions. The floor is the server without readers. */
async function idleReader(): Promise<Measured> {
  const fleet = await openIdleFleet(10_000);
  await fleet.measure(5);
  const floor = await fleet.measure(10);
  await fleet.addReaders(READERS);
  await fleet.measure(5);
  const value = ((await fleet.measure(10)) - floor) / READERS;
  await fleet.close();
  const goal = `<= ${READER_MS} ms/s`;
  return { value, unit: 'ms/s', floor, ratio: value / floor, goal, ok: value <= READER_MS };
}

async function usedBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
