import { get, type IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Bench, type Measured, median } from './harness.ts';
import { type LongRun, openLongRun } from './long-run.ts';

/** Opening a stream on a long open run, which must cost the same at any length. `short-…`: a tenth of the frames. */
export const growth: Bench = {
  name: 'growth',
  cases: [
    { name: 'first-byte', run: () => firstByte(1_000_000) },
    { name: 'stall', run: () => stall(1_000_000) },
    { name: 'short-first-byte', run: () => firstByte(100_000) },
    { name: 'short-stall', run: () => stall(100_000) },
  ],
};

const ROUNDS = 9;

/** From the request to the first event, at the start, in the middle and at the end of the run: the slowest of the three. */
async function firstByte(frames: number): Promise<Measured> {
  const run = await openLongRun({ deltas: frames });
  const small = await openLongRun({ deltas: 1_000 });
  const value = Math.max(...(await measureAll(run)));
  const floor = Math.max(...(await measureAll(small)));
  await small.close();
  await run.close();
  return { value, unit: 'ms', floor, ratio: value / floor, goal: '<= 50 ms', ok: value <= 50 };
}

/** How long other work waits at most while such streams are opened; the floor is an idle server. */
async function stall(frames: number): Promise<Measured> {
  const run = await openLongRun({ deltas: frames });
  await measureAll(run);
  const floor = await longestDelayMs(() => new Promise((resolve) => setTimeout(resolve, 500)));
  const value = await longestDelayMs(() => measureAll(run));
  await run.close();
  return { value, unit: 'ms', floor, ratio: value / floor, goal: '<= 20 ms', ok: value <= 20 };
}

async function measureAll(run: LongRun): Promise<number[]> {
  const medians: number[] = [];
  for (const after of [0, Math.floor(run.head / 2), run.head - 8]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push((await openAt(run, after)).tookMs);
    medians.push(median(times));
  }
  return medians;
}

/** Opens the stream behind a frame, and closes it after its first event. */
export async function openAt(
  { port, sessionId }: Pick<LongRun, 'port' | 'sessionId'>,
  after: number,
): Promise<{ readonly tookMs: number; readonly id: string }> {
  const headers = after === 0 ? {} : { 'last-event-id': String(after) };
  const startedAt = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = `/v1/sessions/${sessionId}/fleet`;
    get({ host: '127.0.0.1', port, path, headers, agent: false }, resolve).on('error', reject);
  });
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    const id = /^id: (\S+)$/m.exec(text)?.[1];
    if (id !== undefined) return { tookMs: performance.now() - startedAt, id };
  }
  throw new Error('the stream ended before its first event');
}

/** The best of several attempts: another program on the machine may have delayed one of them. */
async function longestDelayMs(work: () => Promise<unknown>): Promise<number> {
  const longest: number[] = [];
  for (let round = 0; round < 3; round++) {
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    await work();
    delays.disable();
    longest.push(delays.max / 1e6);
  }
  return Math.min(...longest);
}
