/** Calls back once after a while, and gives what prevents it. */
export type Schedule = (callback: () => void, ms: number) => () => void;

export const systemSchedule: Schedule = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

/** Until the time is over or the signal comes. */
export async function waitFor(ms: number, schedule: Schedule, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = schedule(end, ms);
    signal.addEventListener('abort', end);
  });
}
