import type { Schedule } from '../../base/schedule.ts';
import type { Credentials } from '../../keys/credential.ts';
import { httpLimits } from '../limits.ts';
import type { Access } from './authenticate.ts';

/**
 * Wraps an access: a key that cannot be looked up in time is accepted as of its last look-up. The database may be
 * unreachable, and an operator needs the metrics of just that time.
 */
export function orKnown(access: Access, schedule: Schedule): Access {
  return access === 'open' ? access : { find: (secret) => findInTime(access, secret, schedule) };
}

async function findInTime(access: Credentials, secret: string, schedule: Schedule) {
  let cancel = () => {};
  const late = new Promise<typeof LATE>((resolve) => {
    cancel = schedule(() => resolve(LATE), httpLimits.knownKeysWaitMs);
  });
  try {
    const found = await Promise.race([access.find(secret), late]);
    return found === LATE ? access.findKnown?.(secret) : found;
  } catch (error) {
    const known = access.findKnown?.(secret);
    if (known === undefined) throw error;
    return known;
  } finally {
    cancel();
  }
}

const LATE = Symbol('late');
