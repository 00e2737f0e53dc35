import { limits } from './limits.ts';

/** Calls later, unless it is told not to. Handed in where something waits, so that tests need not. */
export type Schedule = (run: () => void, delayMs: number) => Cancel;
export type Cancel = () => void;

/**
 * Real timers. They do not keep a process alive that has nothing else to do. A wait that is longer than a timer holds is
 * made of several: such a timer would go off at once, and whoever looks again then would do so without end.
 */
export const systemSchedule: Schedule = (run, delayMs) => {
  const { timerMsMax } = limits;
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
