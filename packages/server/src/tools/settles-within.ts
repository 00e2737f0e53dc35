/** Waits for a promise, but no longer than the timeout. Returns whether it was resolved or rejected by then. */
export async function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const done = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(done, done);
  });
}
