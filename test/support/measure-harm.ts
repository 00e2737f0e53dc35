import { setTimeout as wait } from 'node:timers/promises';

export interface Harm {
  /** The longest time that the process worked without an iteration of the event loop, in milliseconds. */
  readonly stallMs: number;
  /** How much the process grew at most, in MiB. */
  readonly grownMib: number;
}

/**
 * Measures how long work blocks the event loop, and how much memory it takes. Only
 * CPU time of the process counts: on a busy machine any process is stopped now and then.
 */
export async function measureHarm<Result>(work: () => Promise<Result>): Promise<Harm & { readonly result: Result }> {
  const before = process.memoryUsage.rss();
  let highest = before;
  let stallMs = 0;
  let last = { at: performance.now(), worked: process.cpuUsage() };
  const watch = setInterval(() => {
    const at = performance.now();
    const { user, system } = process.cpuUsage(last.worked);
    stallMs = Math.max(stallMs, Math.min(at - last.at, (user + system) / 1_000));
    highest = Math.max(highest, process.memoryUsage.rss());
    last = { at, worked: process.cpuUsage() };
  }, 1);
  try {
    const result = await work();
    // A stall is measured at the next iteration of the loop.
    await wait(5);
    return { result, stallMs, grownMib: (highest - before) / (1024 * 1024) };
  } finally {
    clearInterval(watch);
  }
}
