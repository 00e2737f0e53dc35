import { baseLimits } from './limits.ts';

/** Runs a function later, unless it is cancelled. Injected, so that tests do not wait. */
export type Schedule = (run: () => void, delayMs: number) => Cancel;
/** Cancels a scheduled call; does nothing if it has run. */
export type Cancel = () => void;

/**
 * Real timers. They do not keep a process alive that has nothing else to do. A wait that is longer than a timer holds is
 * made of several: such a timer would fire at once, and a caller that schedules again would loop without end.
 */
export const systemSchedule: Schedule = (run, delayMs) => {
  const { timerMsMax } = baseLimits;
  let cancel: Cancel = () => {};
  const timer = setTimeout(
    () => {
      if (delayMs <= timerMsMax) run();
      else cancel = systemSchedule(run, delayMs - timerMsMax);
    },
    Math.min(delayMs, timerMsMax),
  );
  timer.unref();
  return () => {
    clearTimeout(timer);
    cancel();
  };
};
