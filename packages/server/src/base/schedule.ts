/** Calls later, unless it is told not to. Handed in where something waits, so that tests need not. */
export type Schedule = (run: () => void, delayMs: number) => Cancel;
export type Cancel = () => void;

/** Real timers. They do not keep a process alive that has nothing else to do. */
export const systemSchedule: Schedule = (run, delayMs) => {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};
