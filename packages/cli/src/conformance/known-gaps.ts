/**
 * Checks that Fleetloom does not pass yet, by number, with the reason. A stale list fails: a check that passes must be
 * removed from it. There are none now.
 */
export const knownGaps: ReadonlyMap<number, string> = new Map<number, string>();
