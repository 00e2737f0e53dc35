import { inBackground, reportAsWarning } from '../base/in-background.ts';

/** Runs one piece of work at a time for each key, in the order of the calls. */
export interface Locks {
  hold<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

/** Creates locks that are granted in the order of their requests. */
export function createLocks(): Locks {
  /** The last work in each queue, by key. A key with an empty queue is removed. */
  const tails = new Map<string, Promise<void>>();
  return {
    hold: async (key, work) => {
      const before = tails.get(key);
      const result = before === undefined ? work() : before.then(work);
      const settled = result.then(ignore, ignore);
      tails.set(key, settled);
      inBackground(
        settled.then(() => {
          if (tails.get(key) === settled) tails.delete(key);
        }),
        reportAsWarning,
      );
      return await result;
    },
  };
}

/** The caller of `hold` receives the failure; the next in the queue only needs to know that the work is over. */
function ignore(): void {}
