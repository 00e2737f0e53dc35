import { type Arrival, readBare, readSession } from './claude-code-readers.ts';
import { type Bench, type Measured, median } from './harness.ts';

/** The delay from a line on the program's pipe to the event at a reader of the session, including the synced log. */
export const claudeCode: Bench = {
  name: 'claude-code',
  cases: [
    { name: 'line-to-reader', run: () => measureDelay(0.5, 20) },
    { name: 'line-to-reader-p99', run: () => measureDelay(0.99, 100) },
    { name: 'throughput', run: measureThroughput },
  ],
};

async function measureDelay(share: number, goalMs: number): Promise<Measured> {
  const options = { lines: 400, chars: 200, everyMs: 5 };
  const floor = delayOf(await readBare(options), share);
  const value = delayOf(await readSession(options), share);
  return { value, unit: 'ms', floor, ratio: value / floor, goal: `<= ${goalMs} ms`, ok: value <= goalMs };
}

async function measureThroughput(): Promise<Measured> {
  const options = { lines: 3_000, chars: 2_000, everyMs: 0 };
  const megabytes = (options.lines * options.chars) / 1e6;
  const floors: number[] = [];
  const all: number[] = [];
  for (let round = 0; round < 3; round++) {
    floors.push(megabytes / durationOf(await readBare(options)));
    all.push(megabytes / durationOf(await readSession(options)));
  }
  const value = median(all);
  const floor = median(floors);
  return { value, unit: 'MB/s', floor, ratio: value / floor, goal: '>= 0.35x', ok: value / floor >= 0.35 };
}

/** A quantile of the delays, without the first lines, during which the code is compiled. */
function delayOf(arrivals: readonly Arrival[], share: number): number {
  const delays = arrivals.slice(arrivals.length / 4).map(({ printedAt, hereAt }) => hereAt - printedAt);
  delays.sort((a, b) => a - b);
  return delays[Math.floor((delays.length - 1) * share)] ?? Number.NaN;
}

/** Seconds from the first line to the last: the start of the program is not counted. */
function durationOf(arrivals: readonly Arrival[]): number {
  return ((arrivals.at(-1)?.hereAt ?? 0) - (arrivals[0]?.hereAt ?? 0)) / 1000;
}
