import { sessionLimits } from '../core/limits.ts';

/** Doubles with each failure, up to the maximum; up to a quarter less at random, so that many retries do not arrive at the same time. */
export function toRetryDelay(failures: number, random: () => number): number {
  const full = Math.min(sessionLimits.retryDelayMs * 2 ** failures, sessionLimits.retryDelayMsMax);
  return Math.round(full * (1 - random() / 4));
}
