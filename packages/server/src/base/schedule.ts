import { baseLimits } from './limits.ts';

/** Runs a function later, unless it is cancelled. Injected, so that tests do not wait. */
export type Schedule = (run: () => void, delayMs: number) => Cancel;
/** Cancels a scheduled call; does nothing if it has run. */
export type Cancel = () => void;

/**
 * Real timers. They do not keep a process alive. A wait that is longer than the limit of a timer is
 * made of several timers: a single one would fire at once, and a caller that schedules again would loop without end.
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
