import type { Cancel, Schedule } from '../../base/schedule.ts';
import { limits } from '../../base/limits.ts';
import type { Store } from '../../store/store.ts';

export interface Waiter {
  readonly store: Pick<Store, 'subscribe'>;
  readonly schedule: Schedule;
}

/**
 * Looks until something is found that another process has to do for a session, or the time is over. Signals say when to
 * look; since they may be lost, it also looks by itself, at first often and then less.
 */
export async function waitUntil<Found>(
  { store, schedule }: Waiter,
  sessionId: string,
  waitMs: number,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  let wake = () => {};
  let isHeard = false;
  let isOver = false;
  const unsubscribe = store.subscribe((signals) => {
    if (!signals.some((signal) => signal.sessionId === sessionId)) return;
    isHeard = true;
    wake();
  });
  const cancelEnd = schedule(() => {
    isOver = true;
    wake();
  }, waitMs);
  try {
    for (let delayMs: number = limits.ownerLookMs; ; delayMs = Math.min(delayMs * 2, limits.ownerLookMsMax)) {
      isHeard = false;
      const found = await look();
      if (found !== undefined || isOver) return found;
      if (isHeard) continue;
      let cancel: Cancel = () => {};
      await new Promise<void>((resolve) => {
        wake = resolve;
        cancel = schedule(resolve, delayMs);
      });
      cancel();
    }
  } finally {
    cancelEnd();
    unsubscribe();
  }
}
