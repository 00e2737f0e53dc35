import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { baseLimits } from './limits.ts';
import { systemSchedule } from './schedule.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('[R255] a wait longer than the longest timer takes its full time, and can be cancelled in every part', () => {
  const longest = baseLimits.timerMsMax;
  for (const delayMs of [longest, longest + 1, 3 * longest]) {
    const run = vi.fn();
    systemSchedule(run, delayMs);
    vi.advanceTimersByTime(delayMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  }
  for (const passedMs of [0, longest + 1]) {
    const run = vi.fn();
    const cancel = systemSchedule(run, 3 * longest);
    vi.advanceTimersByTime(passedMs);
    cancel();
    vi.advanceTimersByTime(3 * longest);
    expect(run).not.toHaveBeenCalled();
  }
  expect(vi.getTimerCount()).toBe(0);
  expect(longest).toBe(2_147_483_647);
});
