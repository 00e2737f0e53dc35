import { limits } from '../base/limits.ts';

/** Doubles with each failure, up to the longest; up to a quarter less by chance, so that many do not come at once. */
export function toRetryDelay(failures: number, random: () => number): number {
  const full = Math.min(limits.retryDelayMs * 2 ** failures, limits.retryDelayMsMax);
  return Math.round(full * (1 - random() / 4));
}
