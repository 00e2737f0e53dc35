import { expect, it } from 'vitest';
import { inSlices } from './in-slices.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';

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

it('[K42] concurrent works take turns, one slice per turn of the event loop', async () => {
  // The turn of the test before it is over.
  await new Promise((resolve) => setTimeout(resolve, 10));
  const slices: { work: number; turn: number }[] = [];
  let [turn, isDone] = [0, false];
  const count = () => void (isDone || (turn++, setImmediate(count)));
  setImmediate(count);
  const works = Array.from({ length: 20 }, (_, work) => inSlices(burn(work)));
  const delays: number[] = [];
  // Fewer than the works have slices.
  for (let other = 0; other < 10; other++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const before = turn;
    await yieldToEventLoop();
    delays.push(turn - before);
  }
  await Promise.all(works);
  isDone = true;
  const first = slices.slice(0, works.length);
  expect(first.map(({ work }) => work)).toEqual(works.map((_, work) => work));
  expect(new Set(first.map((slice) => slice.turn)).size).toBe(works.length);
  // The turn that has begun, and the one of the work that was in the queue before; not one of each work.
  expect(Math.max(...delays)).toBeLessThanOrEqual(3);

  /** Two slices or more. */
  function* burn(work: number): Generator<void, void> {
    for (let step = 0; step < 10; step++) {
      if (slices.at(-1)?.work !== work) slices.push({ work, turn });
      const end = performance.now() + 1;
      while (performance.now() < end) continue;
      yield;
    }
  }
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
