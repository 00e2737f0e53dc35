import { type Bench, comparePair, type Measured } from './harness.ts';
import { emitInMemory, measureLatency, openBenchLog, writeAndTail, writeNaively } from './store-writers.ts';

/** The log on disk: every frame is durable before it is seen. Compared with what does less, and with what does it badly. */
export const store: Bench = {
  name: 'store',
  cases: [
    ...[1, 4, 16].flatMap((writers) => [
      { name: `${writers}-writers`, run: () => againstMemory(writers) },
      { name: `${writers}-writers-naive`, run: () => againstNaive(writers) },
    ]),
    { name: 'latency-p50', run: () => latency(0.5, 10) },
    { name: 'latency-p99', run: () => latency(0.99, 40) },
  ],
};

const FRAMES = 16_000;
/** A commit each takes so long that fewer have to do. */
const NAIVE_FRAMES = 160;

/** Bare emission has each frame serialised and handed to a listener; nothing is kept. */
async function againstMemory(writers: number): Promise<Measured> {
  const log = await openBenchLog(writers);
  const pair = { floor: () => emitInMemory(writers, FRAMES), ours: () => writeAndTail(log, FRAMES) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11 });
  await log.close();
  return {
    value: perSecond(FRAMES, oursMs),
    unit: '/s',
    floor: perSecond(FRAMES, floorMs),
    ratio,
    goal: 'reported, x slower',
    ok: true,
  };
}

async function againstNaive(writers: number): Promise<Measured> {
  const log = await openBenchLog(writers);
  const pair = { floor: () => writeNaively(log, NAIVE_FRAMES), ours: () => writeAndTail(log, FRAMES) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11 });
  await log.close();
  const factor = FRAMES / NAIVE_FRAMES / ratio;
  const floor = perSecond(NAIVE_FRAMES, floorMs);
  return { value: perSecond(FRAMES, oursMs), unit: '/s', floor, ratio: factor, goal: 'reported, x faster', ok: true };
}

/** From handing a delta in to a reader having it, with 16 turns of 200 deltas a second. */
async function latency(quantile: number, limitMs: number): Promise<Measured> {
  const log = await openBenchLog(16);
  const sorted = (await measureLatency(log, { perSecond: 200, seconds: 5 })).sort((a, b) => a - b);
  await log.close();
  const value = sorted[Math.floor(quantile * (sorted.length - 1))]!;
  return { value, unit: 'ms', floor: null, ratio: null, goal: `<= ${limitMs} ms`, ok: value <= limitMs };
}

function perSecond(frames: number, ms: number): number {
  return (frames / ms) * 1_000;
}
