export const systemClock = { now: () => Date.now() };

/** A clock that only moves when it is told to. For tests. */
export function manualClock(start = 0) {
  let time = start;
  return { now: () => time, advance: (ms) => (time += ms) };
}
