import { limits } from './limits.ts';

/** Counts how often a request was made, so that a script can fail the first attempts and then succeed. */
export interface Attempts {
  /** Counts an attempt and returns its number, from 1. */
  count(request: string): number;
}

/** Counts in memory. The least recently counted request is forgotten first, and would start again at 1. */
export function createAttempts(max: number = limits.attemptsMax): Attempts {
  const counts = new Map<string, number>();
  return {
    count: (request) => {
      const attempt = (counts.get(request) ?? 0) + 1;
      // A map keeps the order of insertion: the first key is the least recently counted one.
      counts.delete(request);
      counts.set(request, attempt);
      const [oldest] = counts.keys();
      if (counts.size > max && oldest !== undefined) counts.delete(oldest);
      return attempt;
    },
  };
}
