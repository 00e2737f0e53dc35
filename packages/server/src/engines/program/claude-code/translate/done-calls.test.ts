import { expect, it } from 'vitest';
import { programLimits } from '../../limits.ts';
import { DoneCalls } from './done-calls.ts';

it('[J543] as many calls with a result are known as an agent may have open, by their agents', () => {
  const done = new DoneCalls();
  const { programAgentCallsMax: max } = programLimits;
  for (let at = 0; at < max; at++) done.add('a1', `c${at}`);
  expect([done.has('a1', 'c0'), done.has('a2', 'c0')]).toEqual([true, false]);
  done.add('a1', `c${max}`);
  expect([done.has('a1', 'c0'), done.has('a1', 'c1'), done.has('a1', `c${max}`)]).toEqual([false, true, true]);
});
