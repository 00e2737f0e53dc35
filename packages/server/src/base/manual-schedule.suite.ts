import type { ManualClock } from './clock.ts';
import type { Schedule } from './schedule.ts';

/** Timers that run when a test advances the clock. */
export function createManualSchedule(clock: ManualClock) {
  const timers = new Set<{ at: number; run: () => void }>();
  const schedule: Schedule = (run, delayMs) => {
    const timer = { at: clock.steady() + delayMs, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  return { schedule, advance, waiting: () => timers.size };

  function advance(ms: number): void {
    clock.advance(ms);
    for (const timer of [...timers].filter(({ at }) => at <= clock.steady())) {
      timers.delete(timer);
      timer.run();
    }
  }
}
