/** Waits for work, but no longer than so many milliseconds. Whether it was done by then; what fails is done. */
export async function within(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const done = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(done, done);
  });
}
