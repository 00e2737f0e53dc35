import { readFileSync } from 'node:fs';
import { baseLimits } from '../limits.ts';

/**
 * How many descriptors the process may have open: its soft limit, which Node raises to the hard one at its start. Undefined
 * if the process has no descriptor left to read it, and on systems other than Linux.
 */
export function readDescriptorsMax(): number | undefined {
  try {
    const found = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    if (found === undefined) return undefined;
    return found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found);
  } catch {
    // Only Linux has this file.
    return undefined;
  }
}

/** A share of the descriptors for one purpose, within bounds. */
export function shareOfDescriptors(
  share: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const all = readDescriptorsMax() ?? baseLimits.descriptorsElsewhere;
  return Math.min(max, Math.max(min, Math.floor(all * share)));
}
