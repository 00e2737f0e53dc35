import { expect, it } from 'vitest';
import { PacedOutput } from './paced-output.ts';

it('[N62] what a program writes is passed on whole and in order, also while its reader is behind', async () => {
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
