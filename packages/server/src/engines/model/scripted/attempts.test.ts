import { expect, it } from 'vitest';
import { createAttempts } from './attempts.ts';
import { limits } from './limits.ts';

it('[K10] attempts are counted for each request separately', () => {
  const attempts = createAttempts();
  expect(['a', 'b', 'a', 'a', 'b'].map((request) => attempts.count(request))).toEqual([1, 1, 2, 3, 2]);
});

it('[K22] the request that was not repeated for longest is forgotten first', () => {
  const attempts = createAttempts(2);
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map((request) => attempts.count(request))).toEqual([1, 1, 2, 1, 3, 1]);
});

it('[K22] a limited number of requests is remembered', () => {
  const attempts = createAttempts();
  const countAll = (many: number) => Array.from({ length: many }, (_, at) => attempts.count(String(at)));
  expect(new Set(countAll(limits.attemptsMax))).toEqual(new Set([1]));
  expect(new Set(countAll(limits.attemptsMax))).toEqual(new Set([2]));
  expect(new Set(countAll(limits.attemptsMax + 1)).has(1)).toBe(true);
});
