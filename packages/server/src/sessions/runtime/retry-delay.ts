import { sessionLimits } from '../core/limits.ts';

/** The delay doubles with each failure, up to the maximum. Up to a quarter is subtracted at random to spread retries. */
export function toRetryDelay(failures: number, random: () => number): number {
  const full = Math.min(sessionLimits.retryDelayMs * 2 ** failures, sessionLimits.retryDelayMsMax);
  return Math.round(full * (1 - random() / 4));
}
