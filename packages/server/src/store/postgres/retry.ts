import { storeLimits } from '../limits.ts';

/** Tries again while it makes sense, with growing pauses. What fails last is what it fails with. */
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

/** Not always the same: those who have met would meet again. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs * (0.5 + Math.random() / 2)));
}
