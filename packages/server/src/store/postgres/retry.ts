import { storeLimits } from '../limits.ts';

/** Retries with growing pauses while the error allows it. Rejects with the last error. */
export async function retry<Answer>(
  run: () => Promise<Answer>,
  isWorthIt: (error: unknown) => boolean,
  patienceMs: number,
): Promise<Answer> {
  const until = performance.now() + patienceMs;
  for (
    let delayMs: number = storeLimits.databaseRetryMs;
    ;
    delayMs = Math.min(2 * delayMs, storeLimits.databaseRetryMsMax)
  ) {
    try {
      return await run();
    } catch (error) {
      if (!isWorthIt(error) || performance.now() >= until) throw error;
    }
    await pause(delayMs);
  }
}

/** Randomised, so that conflicting transactions do not conflict again. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs * (0.5 + Math.random() / 2)));
}
