import { limits } from './base/limits.ts';
import type { Schedule } from './base/schedule.ts';
import type { Store } from './store/store.ts';

/** Asks the database, which may be away or not answer at all. */
export function createReadiness(store: Pick<Store, 'now'>, schedule: Schedule) {
  return async (): Promise<true | { readonly reason: string }> => {
    let cancel = () => {};
    const tooLong = new Promise<false>((resolve) => {
      cancel = schedule(() => resolve(false), limits.readyMs);
    });
    const isThere = store.now().then(
      () => true,
      () => false,
    );
    try {
      return (await Promise.race([isThere, tooLong])) ? true : { reason: 'database' };
    } finally {
      cancel();
    }
  };
}
