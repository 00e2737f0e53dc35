export const systemClock = { now: () => Date.now() };

/** A clock that moves only when a test advances it. */
export function manualClock(start = 0) {
  let time = start;
  return { now: () => time, advance: (ms) => (time += ms) };
}
