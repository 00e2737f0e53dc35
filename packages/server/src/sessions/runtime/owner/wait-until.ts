import type { Cancel, Schedule } from '../../../base/schedule.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { Store } from '../../../store/store.ts';

/** What waiting needs. */
export interface Waiter {
  readonly store: Pick<Store, 'subscribe'>;
  readonly schedule: Schedule;
}

/**
 * Polls until another process has done something for a session, or the time is over. Signals trigger a query; since they may
 * be lost, it also polls without a signal, at first often and then less.
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
    for (
      let delayMs: number = sessionLimits.ownerLookMs;
      ;
      delayMs = Math.min(delayMs * 2, sessionLimits.ownerLookMsMax)
    ) {
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
