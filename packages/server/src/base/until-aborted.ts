/**
 * Resolves with the result of the work, or rejects as soon as the signal is aborted: with its reason, unless `toError` maps it. For
 * work that cannot be stopped: it continues, and its result is ignored.
 */
export async function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  toError: () => unknown = () => signal.reason,
): Promise<Result> {
  return await new Promise((resolve, reject) => {
    const stop = () => reject(toError());
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    // Removed before the outcome is delivered: a caller that waits for many small results would collect listeners.
    const end = () => signal.removeEventListener('abort', stop);
    work.then(
      (result) => (end(), resolve(result)),
      (error: unknown) => (end(), reject(error)),
    );
  });
}
