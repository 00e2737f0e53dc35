/**
 * What our own server does not do yet, by the number of the check, with the reason. The list fails when it is stale: a gap
 * that is closed has to be taken off it. There is none now.
 */
export const knownGaps: ReadonlyMap<number, string> = new Map<number, string>();
