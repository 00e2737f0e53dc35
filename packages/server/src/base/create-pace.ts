import { baseLimits } from './limits.ts';

/** Called between small steps of background work. Returns a promise when the work has to pause before its next step. */
export type Pace = () => Promise<void> | undefined;

/**
 * Paces background work that no caller waits for: after each slice it pauses, by default four times as long as the slice took, so
 * that it uses at most a fifth of the process and delays other work by one slice.
 *
 * @example
 * const pace = createPace();
 * for (const item of items) {
 *   handle(item);
 *   await pace();
 * }
 */
export function createPace(restFactor: number = baseLimits.paceRestFactor): Pace {
  let startedAt = performance.now();
  return () => {
    const spentMs = performance.now() - startedAt;
    if (spentMs < baseLimits.paceSliceMs) return undefined;
    const restMs = Math.min(baseLimits.paceRestMsMax, spentMs * restFactor);
    return new Promise((resolve) => {
      setTimeout(() => {
        startedAt = performance.now();
        resolve();
      }, restMs);
    });
  };
}
