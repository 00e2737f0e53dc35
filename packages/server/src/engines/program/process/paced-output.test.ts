import { expect, it } from 'vitest';
import { PacedOutput } from './paced-output.ts';

it('[N62] output of a program is passed on completely and in order, also while its reader is behind', async () => {
  const taken: string[] = [];
  const calls: string[] = [];
  const output = new PacedOutput({
    onOutput: (bytes) => void taken.push(Buffer.from(bytes).toString()),
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
  });
  const text = Array.from({ length: 10_000 }, (_, at) => String(at)).join(' ');
  output.push(Buffer.from(text.slice(0, 9)));
  output.hold();
  output.push(Buffer.from(text.slice(9)));
  expect(taken.join('')).toBe(text.slice(0, 9));
  expect(calls.at(-1)).toBe('pause');
  output.release();
  await output.empty();
  expect(taken.join('')).toBe(text);
  expect(calls.at(-1)).toBe('resume');
});

it('[J400] the pieces of a chunk are reported together, and at the latest when other events are handled', async () => {
  const log: (string | number)[] = [];
  let workMs = 0;
  const output = new PacedOutput({
    onOutput: () => {
      log.push('piece');
      const end = performance.now() + workMs;
      while (performance.now() < end);
    },
    onPassed: (bytes) => log.push(bytes),
    pause: () => {},
    resume: () => {},
  });
  output.push(Buffer.alloc(10));
  expect(log).toEqual(['piece', 10]);
  workMs = 20;
  output.push(Buffer.alloc(8 * 1024));
  // The first piece has used up the time of this iteration.
  expect(log.slice(2)).toEqual(['piece', 4 * 1024]);
  await output.empty();
  expect(log.slice(4)).toEqual(['piece', 4 * 1024]);
  workMs = 0;
  await new Promise((resolve) => setImmediate(resolve));
  log.length = 0;
  output.push(Buffer.alloc(0));
  expect(log).toEqual(['piece']);
});

it('[N62] slow work on it does not hold the event loop, and its end is reported', async () => {
  let [taken, turns, isPaused] = [0, 0, false];
  const output = new PacedOutput({
    onOutput: (bytes) => {
      taken += bytes.length;
      const end = performance.now() + 3;
      while (performance.now() < end);
    },
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
  });
  const watch = setInterval(() => turns++, 1);
  output.push(Buffer.alloc(128 * 1024));
  expect(isPaused).toBe(true);
  await output.empty();
  clearInterval(watch);
  expect([taken, isPaused]).toEqual([128 * 1024, false]);
  expect(turns).toBeGreaterThan(3);
});
