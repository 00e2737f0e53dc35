import type { Clock } from '../base/clock.ts';
import type { SessionState } from './state.ts';

/**
 * Time as the log of one session counts it, which never goes back. Somebody may set the machine's clock, or the owner before
 * had another one: frames keep their order all the same, and waits of seconds do not last for days.
 */
export function createSessionClock({ now, steady }: Clock, state: Pick<SessionState, 'updatedAt'>): Clock {
  let latest = Number.NEGATIVE_INFINITY;
  return {
    now: () => {
      latest = Math.max(latest, now(), state.updatedAt);
      return latest;
    },
    steady,
  };
}
