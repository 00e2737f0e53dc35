import { inBackground, reportAsWarning } from '../base/in-background.ts';

/** One at a time for each key, in the order of asking. */
export interface Locks {
  hold<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

export function createLocks(): Locks {
  /** The last one in each queue. Keys without anybody are forgotten. */
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

/** Whoever asked hears of it; who waits behind it only has to know that it is over. */
function ignore(): void {}
