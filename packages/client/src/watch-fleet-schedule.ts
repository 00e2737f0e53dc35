/** Calls back once after a delay, and returns the function that cancels the call. */
export type Schedule = (callback: () => void, ms: number) => () => void;

/** `setTimeout` as a schedule. */
export const systemSchedule: Schedule = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

/** Resolves when the time is over or the signal aborts. */
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
