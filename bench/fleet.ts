import { type Bench, comparePair, type Measured } from './harness.ts';
import { measureBareDelays } from './bare-delays.ts';
import { openBareServer, openBenchDoor, toFrames } from './fleet-door.ts';

/** The fleet door: a request over HTTP, from the engine through the log on the disk to a client. */
export const fleet: Bench = {
  name: 'fleet',
  cases: [
    { name: 'fan-out-16', run: fanOut },
    { name: 'latency-p50', run: () => latency(0.5, 10) },
    { name: 'latency-p99', run: () => latency(0.99, 40) },
    { name: 'block-16', run: block },
    { name: 'cancel-16', run: cancel },
    { name: 'memory-per-stream', run: memory },
  ],
};

const AGENTS = 16;
const DELTAS = 96_000;

/** Everything that sixteen agents say at once, durable, against a bare server that writes a frame for each piece of it. */
async function fanOut(): Promise<Measured> {
  const door = await openBenchDoor();
  const bare = await openBareServer(await toFrames(door, AGENTS));
  const pair = { floor: () => bare.write(DELTAS), ours: () => door.run(AGENTS, { deltas: DELTAS / AGENTS }) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11, budgetMs: 20_000 });
  await door.close();
  await bare.close();
  const [value, floor] = [oursMs, floorMs].map((ms) => (DELTAS / ms) * 1_000) as [number, number];
  return { value, unit: '/s', floor, ratio: 1 / ratio, goal: '>= 0.5x', ok: 1 / ratio >= 0.5 };
}

/**
 * From the engine having a delta to the client having it, with 16 agents of 200 deltas a second. The goal is that of an idle
 * machine; the floor, which is the same with nothing but a synced file in between, tells whether this one and its disk were.
 */
async function latency(quantile: number, limitMs: number): Promise<Measured> {
  const perSecond = 200;
  const bare = await measureBareDelays(AGENTS, { deltas: 3 * perSecond, perSecond });
  const door = await openBenchDoor();
  const { delaysMs } = await door.measure(AGENTS, { deltas: 6 * perSecond, perSecond });
  await door.close();
  // The first second is the compiler's.
  const [floor, value] = [bare, delaysMs].map((all) => quantileOf(all.slice(AGENTS * perSecond), quantile)) as [
    number,
    number,
  ];
  return { value, unit: 'ms', floor, ratio: value / floor, goal: `<= ${limitMs} ms`, ok: value <= limitMs };
}

function quantileOf(values: readonly number[], quantile: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(quantile * (values.length - 1))]!;
}

/** A block of sixteen against one of one, each speaking for half a second: they work at the same time. */
async function block(): Promise<Measured> {
  const work = { deltas: 100, perSecond: 200 };
  const door = await openBenchDoor();
  const pair = { floor: () => door.run(1, work), ours: () => door.run(AGENTS, work) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 5, budgetMs: 12_000 });
  await door.close();
  return { value: oursMs, unit: 'ms', floor: floorMs, ratio, goal: '<= 1.5x', ok: ratio <= 1.5 };
}

/** From the cancel of a block of sixteen to the end of its stream. */
async function cancel(): Promise<Measured> {
  const door = await openBenchDoor();
  const times: number[] = [];
  for (let round = 0; round < 7; round++) times.push((await door.cancel(AGENTS)).tookMs);
  await door.close();
  const value = quantileOf(times, 0.5);
  return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 1000 ms', ok: value <= 1_000 };
}

/** What a thousand open streams keep, both ends of the connection in this process. */
async function memory(): Promise<Measured> {
  const streams = 1_000;
  const door = await openBenchDoor();
  // What is made once is there before.
  (await door.openStreams(50))();
  const before = await usedBytes();
  const close = await door.openStreams(streams);
  const value = ((await usedBytes()) - before) / streams / 1_024;
  close();
  await door.close();
  return { value, unit: 'KiB', floor: null, ratio: null, goal: '<= 64 KiB', ok: value <= 64 };
}

async function usedBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
