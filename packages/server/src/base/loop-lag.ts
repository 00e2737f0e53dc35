import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';
import { baseLimits } from './limits.ts';
import type { Schedule } from './schedule.ts';

/** How late the event loop runs what is due. */
export interface LoopLag {
  /** The delay of the last timer, or of the current one if it is overdue. */
  readonly lagMs: number;
  /** The longest delay of the last complete window or of the current one. */
  readonly longestMs: number;
  /** The share of the last moments in which the loop had something to do, from 0 to 1. */
  readonly busyShare: number;
  close(): void;
}

/** Measures the delay of a repeating timer. `onTick` runs with each measurement. */
export function watchLoopLag(clock: Pick<Clock, 'steady'>, schedule: Schedule, onTick: () => void = () => {}): LoopLag {
  const windowTicks = baseLimits.loopLagWindowMs / baseLimits.loopLagTickMs;
  let last = 0;
  let dueAt = 0;
  let ticks = 0;
  let longest = 0;
  let longestBefore = 0;
  let busy = 0;
  let used = performance.eventLoopUtilization();
  let usedAt = clock.steady();
  let cancel = () => {};
  tickLater();
  return {
    get lagMs() {
      return Math.max(last, clock.steady() - dueAt);
    },
    get longestMs() {
      return Math.max(longest, longestBefore, clock.steady() - dueAt);
    },
    get busyShare() {
      return busy;
    },
    close: () => cancel(),
  };

  function tickLater(): void {
    dueAt = clock.steady() + baseLimits.loopLagTickMs;
    cancel = schedule(() => {
      last = Math.max(0, clock.steady() - dueAt);
      longest = Math.max(longest, last);
      measureUse();
      ticks += 1;
      if (ticks >= windowTicks) {
        [ticks, longestBefore, longest] = [0, longest, 0];
      }
      tickLater();
      onTick();
    }, baseLimits.loopLagTickMs);
  }

  function measureUse(): void {
    const before = used;
    used = performance.eventLoopUtilization();
    const now = clock.steady();
    busy = smoothShare(busy, performance.eventLoopUtilization(used, before).utilization, now - usedAt);
    usedAt = now;
  }
}

/** Exponential smoothing: the previous share and a new one that was measured for `passedMs`. */
export function smoothShare(before: number, share: number, passedMs: number): number {
  return before + Math.min(1, passedMs / baseLimits.loopBusyMs) * (share - before);
}
