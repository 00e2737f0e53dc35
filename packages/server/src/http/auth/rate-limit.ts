import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';

/** The request rate that each key may use. */
export interface RateLimit {
  /** The sustained rate of one key. */
  readonly perSecond: number;
  /** How many requests a key that was idle may make at once. */
  readonly burst: number;
}

/** Creates a function that counts a request of a key, or rejects it. Each key has a token bucket. */
export function createRateLimiter({ perSecond, burst }: RateLimit, clock: Clock): (key: string) => void {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = clock.steady();
    const bucket = buckets.get(key) ?? { left: burst, at };
    const left = Math.min(burst, bucket.left + ((at - bucket.at) / 1_000) * perSecond);
    const oldest = buckets.size >= httpLimits.rateBucketsMax ? buckets.keys().next().value : undefined;
    // Removed first, so that the map stays in the order of the last use of its keys.
    buckets.delete(key);
    if (oldest !== undefined) buckets.delete(oldest);
    buckets.set(key, { left: left >= 1 ? left - 1 : left, at });
    if (left >= 1) return;
    const seconds = (1 - left) / perSecond;
    throw requestError('rate_limited', `this key makes more than ${perSecond} requests a second`, {
      retryAfterSeconds: seconds,
    });
  };
}
