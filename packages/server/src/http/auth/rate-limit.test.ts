import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { createRateLimiter } from './rate-limit.ts';

it('[H9] each key has its own bucket, which refills with time up to its size', () => {
  const clock = createManualClock();
  const count = createRateLimiter({ perSecond: 10, burst: 3 }, clock);
  const passes = (key: string) => {
    try {
      count(key);
      return true;
    } catch {
      return false;
    }
  };
  expect([1, 2, 3, 4].map(() => passes('a'))).toEqual([true, true, true, false]);
  expect(passes('b')).toBe(true);
  clock.advance(99);
  expect(passes('a')).toBe(false);
  clock.advance(1);
  expect([passes('a'), passes('a')]).toEqual([true, false]);
  clock.advance(60_000);
  expect([1, 2, 3, 4].map(() => passes('a'))).toEqual([true, true, true, false]);
});

it('[H9] above the limit the least recently used key is evicted', () => {
  const count = createRateLimiter({ perSecond: 1, burst: 1 }, createManualClock());
  count('first');
  for (let index = 1; index < httpLimits.rateBucketsMax; index++) count(`key ${index}`);
  expect(() => count('first')).toThrow('this key makes more than 1 requests a second');
  count('one more');
  expect(() => count('first')).toThrow();
  expect(() => count('key 1')).not.toThrow();
});
