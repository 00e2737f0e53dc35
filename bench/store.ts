import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetSessionQuery } from '@fleetloom/protocol/fleet';
import { openSqliteStore } from '@fleetloom/server';
import { listFleetSessions } from '../packages/server/src/views/sessions/list-fleet-sessions.ts';
import { addManySessions } from '../packages/server/src/views/sessions/many-sessions.suite.ts';
import { type Bench, comparePair, type Measured } from './harness.ts';
import { emitInMemory, measureLatency, openBenchLog, writeAndTail, writeNaively } from './store-writers.ts';

/** The log on disk, where every frame is durable before it is delivered, against bare emission and one commit per frame. */
export const store: Bench = {
  name: 'store',
  cases: [
    ...[1, 4, 16].flatMap((writers) => [
      { name: `${writers}-writers`, run: () => againstMemory(writers) },
      { name: `${writers}-writers-naive`, run: () => againstNaive(writers) },
    ]),
    { name: 'latency-p50', run: () => latency(0.5, 10) },
    { name: 'latency-p99', run: () => latency(0.99, 40) },
    { name: 'list-10000-sessions', run: listSessions },
  ],
};

const FRAMES = 16_000;
/** The number of frames with one commit each, which is slow. */
const NAIVE_FRAMES = 160;

/** Against bare emission: each frame is serialised and passed to a listener, without storing it. */
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

/** The delay of a delta from the append to a reader, with 16 turns at 200 deltas per second. */
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

/** The slowest of the queries of a list of 10,000 sessions: a page with its counts, each query at its median. */
async function listSessions(): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const opened = await openSqliteStore({ path: join(folder, 'sessions.db') });
  const at = { workspaceId: 'w1', now: Date.now() };
  await addManySessions(opened, { ...at, count: 10_000 });
  const medians: number[] = [];
  for (const query of LIST_QUERIES) {
    const times: number[] = [];
    for (let round = 0; round < 11; round++) {
      const startedAt = performance.now();
      await listFleetSessions(opened, { ...at, query });
      times.push(performance.now() - startedAt);
    }
    medians.push(times.sort((a, b) => a - b)[5]!);
  }
  await opened.close();
  rmSync(folder, { recursive: true });
  const value = Math.max(...medians);
  return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 50 ms', ok: value <= 50 };
}

const LIST_QUERIES: readonly FleetSessionQuery[] = [
  {},
  { status: ['failed', 'stalled'] },
  { q: 'flaky queue' },
  { q: 'in none of them' },
  { sort: 'cost' },
  { sort: 'name' },
  { sort: 'state' },
];
