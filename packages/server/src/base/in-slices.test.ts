import { expect, it } from 'vitest';
import { inSlices } from './in-slices.ts';

it('[U180] long work does not hold up the event loop, and returns its result', async () => {
  let turns = 0;
  const watch = setInterval(() => turns++, 1);
  const result = await inSlices(workFor(200));
  clearInterval(watch);
  expect(result).toBe('done');
  expect(turns).toBeGreaterThan(3);
});

it('[U180] work stops at its signal, and its errors are passed on', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('stopped')), 10);
  await expect(inSlices(workFor(60_000), stop.signal)).rejects.toThrow('stopped');
  await expect(inSlices(failing())).rejects.toThrow('broken');
});

function* workFor(ms: number): Generator<void, string> {
  const end = performance.now() + ms;
  while (performance.now() < end) yield;
  return 'done';
}

function* failing(): Generator<void, string> {
  yield;
  throw new Error('broken');
}
