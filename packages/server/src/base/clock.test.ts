import { expect, it } from 'vitest';
import { createManualClock, systemClock } from './clock.ts';

it('[D1] a manual clock moves only when advanced, and setting the time is not the same as time passing', () => {
  const clock = createManualClock(1_000);
  expect([clock.now(), clock.steady()]).toEqual([1_000, 0]);
  clock.advance(250);
  expect([clock.now(), clock.steady()]).toEqual([1_250, 250]);
  clock.setNow(10);
  expect([clock.now(), clock.steady()]).toEqual([10, 250]);
});

it('[D1] time does not go back', () => {
  const clock = createManualClock();
  clock.advance(0);
  expect(() => clock.advance(-1)).toThrow('use setNow');
  expect(() => clock.advance(Number.NaN)).toThrow('use setNow');
  expect(clock.steady()).toBe(0);
});

it('[D1] the system clock has the time of day, and a steady time that is not the time of day', () => {
  const before = Date.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  const first = systemClock.steady();
  expect(systemClock.steady()).toBeGreaterThanOrEqual(first);
  expect(first).toBeLessThan(before);
});
