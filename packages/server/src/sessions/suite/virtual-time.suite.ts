import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';

/** A clock and timers that a test advances. */
export interface VirtualTime {
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** Rejects when the signal comes. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs everything that waits only for the event loop. No time passes. */
  readonly breathe: (rounds?: number) => Promise<void>;
  /** Fires the next timer and runs what follows. Returns the time that passed. */
  readonly step: () => Promise<number>;
}

/**
 * The same order of events in every run: promises and immediates have one, and timers go off one by one. So a seed determines
 * everything that happens, and a wait of minutes takes no time.
 */
export function createVirtualTime(startMs = Date.UTC(2026, 0, 1)): VirtualTime {
  const timers = new Map<number, { readonly at: number; readonly run: () => void }>();
  let passed = 0;
  let nextId = 0;

  const schedule: Schedule = (run, delayMs) => {
    const id = nextId++;
    timers.set(id, { at: passed + Math.max(0, delayMs), run });
    return () => void timers.delete(id);
  };

  const breathe = async (rounds = BREATH) => {
    for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve));
  };

  return {
    clock: { now: () => startMs + Math.floor(passed), steady: () => passed },
    schedule,
    breathe,
    sleep: (ms, signal) => sleep(schedule, ms, signal),
    step: async () => {
      const [first] = [...timers].sort(([, a], [, b]) => a.at - b.at);
      if (first === undefined) return 0;
      const [id, { at, run }] = first;
      const took = Math.max(0, at - passed);
      passed += took;
      timers.delete(id);
      run();
      await breathe();
      return took;
    },
  };
}

/** A commit takes two turns of the event loop, and what follows from it usually asks for another one. */
const BREATH = 8;

function sleep(schedule: Schedule, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(new Error('interrupted'));
    };
    const cancel = schedule(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
