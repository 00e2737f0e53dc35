/** The source of time. It is injected everywhere, so that a test can replay any run exactly. */
export interface Clock {
  /** Milliseconds since 1970, for times that people read. May jump, also back, when the machine's clock is set. */
  now: () => number;
  /** Milliseconds since an arbitrary moment, for measuring durations. Never goes back. */
  steady: () => number;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
};

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  /** Advances both clocks. */
  advance: (ms: number) => void;
  /** Sets the wall clock, as an administrator would. The steady clock does not change. */
  setNow: (ms: number) => void;
}

/**
 * A clock for tests and replays.
 *
 * @example
 * const clock = createManualClock(Date.UTC(2026, 0, 1));
 * clock.advance(1500);
 */
export function createManualClock(startMs = 0): ManualClock {
  let nowMs = startMs;
  let steadyMs = 0;
  return {
    now: () => nowMs,
    steady: () => steadyMs,
    advance: (ms) => {
      if (!(ms >= 0))
        throw new RangeError(`time only goes on, so advance(${ms}) is impossible: use setNow to set it back`);
      nowMs += ms;
      steadyMs += ms;
    },
    setNow: (ms) => {
      nowMs = ms;
    },
  };
}
