import type { Clock } from './clock.ts';
import { baseLimits } from './limits.ts';
import type { Schedule } from './schedule.ts';

/** How late the event loop runs what is due. */
export interface LoopLag {
  /** The delay of the last timer, or of the current one if it is overdue. */
  readonly lagMs: number;
  /** The longest delay of the last complete window or of the current one. */
  readonly longestMs: number;
  close(): void;
}

/** Measures the delay of a timer again and again. `onTick` runs with each measurement. */
export function watchLoopLag(clock: Pick<Clock, 'steady'>, schedule: Schedule, onTick: () => void = () => {}): LoopLag {
  const windowTicks = baseLimits.loopLagWindowMs / baseLimits.loopLagTickMs;
  let last = 0;
  let dueAt = 0;
  let ticks = 0;
  let longest = 0;
  let longestBefore = 0;
  let cancel = () => {};
  tickLater();
  return {
    get lagMs() {
      return Math.max(last, clock.steady() - dueAt);
    },
    get longestMs() {
      return Math.max(longest, longestBefore, clock.steady() - dueAt);
    },
    close: () => cancel(),
  };

  function tickLater(): void {
    dueAt = clock.steady() + baseLimits.loopLagTickMs;
    cancel = schedule(() => {
      last = Math.max(0, clock.steady() - dueAt);
      longest = Math.max(longest, last);
      ticks += 1;
      if (ticks >= windowTicks) {
        [ticks, longestBefore, longest] = [0, longest, 0];
      }
      tickLater();
      onTick();
    }, baseLimits.loopLagTickMs);
  }
}
