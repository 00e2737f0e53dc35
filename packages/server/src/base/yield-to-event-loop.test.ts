import { expect, it } from 'vitest';
import { baseLimits } from './limits.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';

/** Keeps the processor busy. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('[O20] work waits for a later turn once the current turn has used up its slice, and not before', async () => {
  await new Promise((resolve) => setImmediate(resolve));
  expect(yieldToEventLoop()).toBeUndefined();
  expect(yieldToEventLoop()).toBeUndefined();
  work(baseLimits.loopSliceMs + 1);
  const waited = yieldToEventLoop();
  expect(waited).toBeInstanceOf(Promise);
  await waited;
  // A new turn has its whole time.
  expect(yieldToEventLoop()).toBeUndefined();
});

it('[O20] timers run in the middle of long work that yields, and never in the middle of work that only awaits resolved promises', async () => {
  const count = async (step: () => Promise<void> | undefined) => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    for (let at = 0; at < 100; at++) {
      work(1);
      await step();
    }
    clearInterval(timer);
    return ticks;
  };
  expect(await count(() => Promise.resolve())).toBe(0);
  expect(await count(() => yieldToEventLoop())).toBeGreaterThan(5);
});

it('[O20] of a hundred concurrent workers one is resumed per turn, in order, and all of them finish', async () => {
  const turns = new Set<number>();
  const order: number[] = [];
  let turn = 0;
  const timer = setInterval(() => {}, 0);
  const count = () => {
    turn++;
    if (order.length < 300) setImmediate(count);
  };
  setImmediate(count);
  const workers = Array.from({ length: 100 }, async (_, worker) => {
    for (let step = 0; step < 3; step++) {
      work(0.5);
      await yieldToEventLoop(0.4);
      turns.add(turn);
      order.push(worker);
    }
  });
  await Promise.all(workers);
  clearInterval(timer);
  // Each had to wait in nearly every step.
  expect(turns.size).toBeGreaterThan(200);
  expect(order.slice(0, 50)).toEqual(order.slice(0, 50).toSorted((a, b) => a - b));
});
