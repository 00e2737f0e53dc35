import { type FleetWatch, watchFleet, type WatchFleetOptions } from '@fleetloom/client';
import { timedFetch } from './clock.ts';

/** Everything that the signed-in browser may see: text as it is written, and thoughts. */
export function openWatch(base: string, options: Pick<WatchFleetOptions, 'onConnection' | 'signal'>): FleetWatch {
  return watchFleet({ url: base, gate: 'live', include: ['thinking'], fetch: timedFetch, ...options });
}
