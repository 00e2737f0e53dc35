import type { Schedule } from '../../../base/schedule.ts';

/** Resolves like the promise, or rejects with the error if the promise takes too long. */
export async function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number,
  schedule: Schedule,
  toError: () => Error,
): Promise<T> {
  return await new Promise((resolve, reject) => {
    const cancel = schedule(() => reject(toError()), timeoutMs);
    promise.then(resolve, reject).finally(cancel);
  });
}
