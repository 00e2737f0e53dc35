import { describe, expect, it, vi } from 'vitest';
import { createPace } from './create-pace.ts';
import { baseLimits } from './limits.ts';

describe('pace', () => {
  it('[O24] background work runs for 1 ms, then rests four times as long as it ran, and at most 50 ms', () => {
    vi.useFakeTimers();
    try {
      const pace = createPace();
      vi.advanceTimersByTime(baseLimits.paceSliceMs - 0.5);
      expect(pace()).toBe(undefined);
      expect(restAfter(pace, 1)).toBe(6);
      expect(restAfter(pace, 1_000)).toBe(50);
      expect([baseLimits.paceSliceMs, baseLimits.paceRestFactor, baseLimits.paceRestMsMax]).toEqual([1, 4, 50]);
    } finally {
      vi.useRealTimers();
    }
  });

  /** How long the pace rests after so much more work; the next slice begins behind the rest. */
  function restAfter(pace: () => Promise<void> | undefined, workMs: number): number {
    vi.advanceTimersByTime(workMs);
    const before = performance.now();
    expect(pace()).toBeInstanceOf(Promise);
    vi.advanceTimersToNextTimer();
    expect(pace()).toBe(undefined);
    return performance.now() - before;
  }
});
