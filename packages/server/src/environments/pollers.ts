import type { Clock } from '../base/clock.ts';
import { environmentLimits } from './limits.ts';
import type { Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';

/** Waiting polls of this server, and the workers that polled recently. */
export interface Pollers {
  /** Resolves with the result of `look`, now or as soon as work is queued; undefined when the time is over or the caller has left. */
  until<Found>(
    look: () => Promise<Found | undefined>,
    blockMs: number,
    signal: AbortSignal,
  ): Promise<Found | undefined>;
  seen(environmentId: string, workerId: string): void;
  /** Workers that asked lately. */
  count(environmentId: string): number;
  close(): void;
}

/** The workers that polled any node recently. */
export interface SeenWorkers {
  seen(environmentId: string, workerId: string): Promise<void>;
  count(environmentId: string): Promise<number>;
}

export interface PollersOptions {
  readonly store: Pick<Store, 'subscribe'>;
  readonly clock: Clock;
  readonly schedule: Schedule;
}

/** Creates the set of waiting polls, which are woken when work is queued. */
export function createPollers({ store, clock, schedule }: PollersOptions): Pollers {
  /** Wakes each of them. */
  const waiting = new Set<() => void>();
  /** When each worker was last here, the one that was away for longest first. */
  const seenAt = new Map<string, number>();
  const closing = new AbortController();
  const unsubscribe = store.subscribe((signals) => {
    if (signals.some(({ type }) => type === 'works')) for (const wake of waiting) wake();
  });

  return {
    until: async (look, blockMs, signal) => {
      const deadline = clock.steady() + blockMs;
      while (!signal.aborted && !closing.signal.aborted) {
        // Listened for before it is looked, so that nothing is queued unheard in between.
        const woken = listen(deadline - clock.steady(), signal);
        try {
          const found = await look();
          if (found !== undefined || clock.steady() >= deadline) return found;
          await woken.promise;
        } finally {
          woken.cancel();
        }
      }
      return undefined;
    },

    seen: (environmentId, workerId) => {
      const key = `${environmentId} ${workerId}`;
      seenAt.delete(key);
      seenAt.set(key, clock.steady());
      forgetOld();
      for (const oldest of seenAt.keys()) {
        if (seenAt.size <= environmentLimits.workersSeenMax) break;
        seenAt.delete(oldest);
      }
    },

    count: (environmentId) => {
      forgetOld();
      return [...seenAt.keys()].filter((key) => key.startsWith(`${environmentId} `)).length;
    },

    close: () => {
      closing.abort();
      unsubscribe();
      for (const wake of waiting) wake();
    },
  };

  function listen(ms: number, signal: AbortSignal): { readonly promise: Promise<void>; readonly cancel: () => void } {
    let wake: () => void = () => {};
    const promise = new Promise<void>((resolve) => {
      wake = resolve;
    });
    waiting.add(wake);
    signal.addEventListener('abort', wake);
    const cancelTimer = schedule(wake, Math.max(0, ms));
    return {
      promise,
      cancel: () => {
        cancelTimer();
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
      },
    };
  }

  function forgetOld(): void {
    for (const [key, at] of seenAt) {
      if (clock.steady() - at < environmentLimits.workerSeenMs) break;
      seenAt.delete(key);
    }
  }
}
