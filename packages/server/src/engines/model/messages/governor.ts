import { type Clock, systemClock } from '../../../base/clock.ts';
import { FleetloomError } from '../../../base/errors.ts';
import { modelLimits } from '../limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../../base/schedule.ts';
import type { QueueState } from '../engine.ts';
import { FairQueue } from './fair-queue.ts';

/** Limits concurrent requests to an endpoint. Threads take turns; each keeps its own order. */
export interface Governor {
  /**
   * Waits until the endpoint can take one more request. Undefined if the signal is aborted first. Throws a
   * {@link FleetloomError} with the code `endpoint_busy` if too many requests wait already. `onQueued` is called at once if the request has
   * to wait.
   */
  acquire(threadId: string, signal: AbortSignal, onQueued?: (state: QueueState) => void): Promise<Permit | undefined>;
  counters(): GovernorCounters;
}

/** The permit for one request. */
export interface Permit {
  /** Reports the outcome of the request. Later calls change nothing. */
  release(outcome: PermitOutcome): void;
}

/** How a request that held a permit ended. */
export type PermitOutcome =
  | { readonly type: 'answered' }
  /** 429 or 529: the endpoint wants fewer requests, and may have asked for a pause. */
  | { readonly type: 'pushed_back'; readonly retryAfterMs: number | null }
  /** Interrupted, rejected or broken: no information about the capacity of the endpoint. */
  | { readonly type: 'other' };

/** Figures of a governor. */
export interface GovernorCounters {
  readonly active: number;
  readonly waiting: number;
  /** How many requests may be active now. */
  readonly limit: number;
  /** How long no request starts. */
  readonly pausedMs: number;
  readonly granted: number;
  readonly pushedBack: number;
}

/** Options of a governor. */
export interface GovernorOptions {
  concurrencyMax?: number | undefined;
  queueMax?: number | undefined;
  clock?: Clock | undefined;
  schedule?: Schedule | undefined;
}

/**
 * Bounds how many requests are in progress at one endpoint. When the endpoint pushes back, the bound halves, and no request starts while
 * it asks for a pause; the bound grows again by one for every round of responses.
 *
 * @example
 * const permit = await governor.acquire('sthr_01…', signal);
 * permit?.release({ type: 'answered' });
 */
export function createGovernor(options: GovernorOptions = {}): Governor {
  const { concurrencyMax = modelLimits.governorConcurrencyMax, queueMax = modelLimits.governorQueueMax } = options;
  const { clock = systemClock, schedule = systemSchedule } = options;
  const queue = new FairQueue<Waiter>();
  /** The current limit. It may have a fraction, to which each response adds. */
  let limit = concurrencyMax;
  let active = 0;
  let granted = 0;
  let pushedBack = 0;
  /** The first request after the last cut of the limit. Earlier requests were the reason for that cut, so they do not cut it again. */
  let firstAfterCut = 0;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let wake: Cancel | undefined;

  return {
    acquire: async (threadId, signal, onQueued) => {
      if (signal.aborted) return undefined;
      if (queue.size >= queueMax) throw busy(queueMax);
      const ahead = queue.size;
      return await new Promise((resolve) => {
        const waiter: Waiter = { resolve, stop: () => leave(threadId, waiter), signal };
        queue.add(threadId, waiter);
        signal.addEventListener('abort', waiter.stop, { once: true });
        grant();
        if (queue.has(threadId, waiter)) onQueued?.({ ...toReason(), ahead });
      });
    },
    counters: () => ({
      active,
      waiting: queue.size,
      limit: Math.floor(limit),
      pausedMs: Math.max(0, pausedUntil - clock.steady()),
      granted,
      pushedBack,
    }),
  };

  function toReason(): Omit<QueueState, 'ahead'> {
    const pausedMs = pausedUntil - clock.steady();
    return pausedMs > 0 ? { reason: 'paused', waitMs: pausedMs } : { reason: 'concurrency', waitMs: null };
  }

  function leave(threadId: string, waiter: Waiter): void {
    queue.remove(threadId, waiter);
    waiter.resolve(undefined);
  }

  function grant(): void {
    if (clock.steady() < pausedUntil) return wakeLater();
    while (active < Math.floor(limit)) {
      const waiter = queue.take();
      if (waiter === undefined) return;
      waiter.signal.removeEventListener('abort', waiter.stop);
      waiter.resolve(createPermit());
    }
  }

  function createPermit(): Permit {
    active += 1;
    const number = granted++;
    let isReleased = false;
    return {
      release: (outcome) => {
        if (isReleased) return;
        isReleased = true;
        active -= 1;
        if (outcome.type === 'answered') limit = Math.min(concurrencyMax, limit + 1 / Math.floor(limit));
        if (outcome.type === 'pushed_back') pushBack(number, outcome.retryAfterMs);
        grant();
      },
    };
  }

  function pushBack(number: number, retryAfterMs: number | null): void {
    pushedBack += 1;
    if (number >= firstAfterCut) {
      limit = Math.max(1, Math.floor(limit / 2));
      firstAfterCut = granted;
    }
    if (retryAfterMs === null) return;
    const until = clock.steady() + Math.min(retryAfterMs, modelLimits.governorPauseMsMax);
    if (until <= pausedUntil) return;
    pausedUntil = until;
    wake?.();
    wake = undefined;
    wakeLater();
  }

  /** A timer may fire a moment early by the clock; then another one is needed, or all requests would wait forever. */
  function wakeLater(): void {
    wake ??= schedule(() => {
      wake = undefined;
      grant();
    }, pausedUntil - clock.steady());
  }
}

interface Waiter {
  readonly resolve: (permit: Permit | undefined) => void;
  readonly stop: () => void;
  readonly signal: AbortSignal;
}

function busy(queueMax: number): FleetloomError {
  return new FleetloomError({
    code: 'endpoint_busy',
    kind: 'retryable',
    problem: `${queueMax} requests wait for this endpoint already`,
    advice: 'try again later, or run fewer agents at once',
  });
}
