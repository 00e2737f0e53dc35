import { type Bench, comparePair, heapBytes, type Measured, median } from './harness.ts';
import { Clients, openAnswerers } from './http-servers.ts';
import { openBenchFleet } from './sessions-fleet.ts';
import { openSessionsServer } from './sessions-server.ts';
import { emitInMemory, openBenchLog, writeNaively } from './store-writers.ts';

/** Whole sessions on disk, from the engine to a reader: the total cost of the state machine, the log and the records. */
export const sessions: Bench = {
  name: 'sessions',
  cases: [
    ...[1, 4, 16].flatMap((turns) => [
      { name: `${turns}-turns`, run: () => againstMemory(turns) },
      { name: `${turns}-turns-naive`, run: () => againstNaive(turns) },
    ]),
    { name: 'latency-p50', run: () => latency(0.5, 10) },
    { name: 'latency-p99', run: () => latency(0.99, 40) },
    { name: 'opening-16-children', run: opening },
    { name: 'create-and-run', run: createAndRun },
    { name: 'memory-per-session', run: memory },
  ],
};

const DELTAS = 16_000;
/** Warm-up rounds, until the code is compiled. Each takes a millisecond or two, so there are many. */
const OPENING_WARM_UP = 40;
const OPENING_ROUNDS = 400;
/** The number of deltas with one commit each, which is slow. */
const NAIVE_DELTAS = 160;

/** Against bare emission: each delta is serialised and passed to a listener, without storing it. */
async function againstMemory(turns: number): Promise<Measured> {
  const fleet = await openBenchFleet();
  const ours = async () => void (await fleet.run(turns, { deltas: DELTAS / turns }));
  const pair = { floor: () => emitInMemory(turns, DELTAS), ours };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11 });
  await fleet.close();
  const floor = perSecond(DELTAS, floorMs);
  return { value: perSecond(DELTAS, oursMs), unit: '/s', floor, ratio, goal: 'reported, x slower', ok: true };
}

/** One commit for every delta. */
async function againstNaive(turns: number): Promise<Measured> {
  const fleet = await openBenchFleet();
  const log = await openBenchLog(turns);
  const ours = async () => void (await fleet.run(turns, { deltas: DELTAS / turns }));
  const pair = { floor: () => writeNaively(log, NAIVE_DELTAS), ours };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 11 });
  await Promise.all([fleet.close(), log.close()]);
  const factor = DELTAS / NAIVE_DELTAS / ratio;
  const floor = perSecond(NAIVE_DELTAS, floorMs);
  return { value: perSecond(DELTAS, oursMs), unit: '/s', floor, ratio: factor, goal: 'reported, x faster', ok: true };
}

/** The delay of a delta from the engine to a reader, with 16 turns at 200 deltas per second. */
async function latency(quantile: number, limitMs: number): Promise<Measured> {
  const fleet = await openBenchFleet();
  const { delaysMs } = await fleet.run(16, { deltas: 1_200, perSecond: 200 });
  await fleet.close();
  // The code is compiled during the first second.
  const sorted = delaysMs.slice(16 * 200).sort((a, b) => a - b);
  const value = sorted[Math.floor(quantile * (sorted.length - 1))]!;
  return { value, unit: 'ms', floor: null, ratio: null, goal: `<= ${limitMs} ms`, ok: value <= limitMs };
}

/** From the delegating response to the start of the last sub-agent: sixteen against one. */
async function opening(): Promise<Measured> {
  const fleet = await openBenchFleet();
  const open = async (children: number) => (await fleet.run(children, { deltas: 1 })).openingMs;
  const rounds: { one: number; all: number }[] = [];
  for (let round = 0; round < OPENING_WARM_UP + OPENING_ROUNDS; round++) {
    const isTurned = round % 2 === 0;
    const first = await open(isTurned ? 1 : 16);
    const second = await open(isTurned ? 16 : 1);
    rounds.push(isTurned ? { one: first, all: second } : { one: second, all: first });
  }
  await fleet.close();
  const measured = rounds.slice(OPENING_WARM_UP);
  const ratio = median(measured.map(({ one, all }) => all / one));
  const value = median(measured.map(({ all }) => all));
  const floor = median(measured.map(({ one }) => one));
  return { value, unit: 'ms', floor, ratio, goal: '<= 1.5x', ok: ratio <= 1.5 };
}

function perSecond(deltas: number, ms: number): number {
  return (deltas / ms) * 1_000;
}

const CREATED = 600;
const CREATED_PER_SECOND = 600;

/**
 * Sessions with tools that are created, receive a message and respond, over HTTP and on disk. The floor is a bare server that sends two
 * small fixed responses for each session.
 */
async function createAndRun(): Promise<Measured> {
  const server = await openSessionsServer();
  const { bare, close } = await openAnswerers();
  const clients = new Clients();
  const pair = { floor: () => clients.ask(bare, 2 * CREATED, 16), ours: () => server.createAndRun(CREATED) };
  const { floorMs, oursMs, ratio } = await comparePair(pair, { rounds: 5, budgetMs: 15_000 });
  clients.close();
  await Promise.all([server.close(), close()]);
  const [value, floor] = [perSecond(CREATED, oursMs), perSecond(CREATED, floorMs)];
  const goal = `>= ${CREATED_PER_SECOND} /s`;
  return { value, unit: '/s', floor, ratio: 1 / ratio, goal, ok: value >= CREATED_PER_SECOND };
}

const OPEN_SESSIONS = 1_000;
const OPEN_SESSION_KIB = 25;

/** The memory of sessions that have answered and wait for the next message, with their tools. */
async function memory(): Promise<Measured> {
  const server = await openSessionsServer();
  // Allocates everything that is created once.
  await server.createAndRun(300);
  await settle();
  const before = heapBytes();
  await server.createAndRun(OPEN_SESSIONS);
  await settle();
  const value = (heapBytes() - before) / OPEN_SESSIONS / 1_024;
  await server.close();
  const goal = `<= ${OPEN_SESSION_KIB} KiB`;
  return { value, unit: 'KiB', floor: null, ratio: null, goal, ok: value <= OPEN_SESSION_KIB };
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500));
}
