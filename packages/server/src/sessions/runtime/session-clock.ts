import type { Clock } from '../../base/clock.ts';
import type { SessionState } from '../core/state/state.ts';

/**
 * The time of one session's log, which never goes back. The machine's clock may be set, or the owner before
 * had a different clock: frames nevertheless keep their order, and waits of seconds do not last for days.
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
