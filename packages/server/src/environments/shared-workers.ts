import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { environmentLimits } from './limits.ts';
import { storeLimits } from '../store/limits.ts';
import type { Store } from '../store/store.ts';
import type { SeenWorkers } from './pollers.ts';

/** Workers that asked any of the nodes. Each is written down now and then, not with every poll. */
export function createSharedWorkers({
  store,
  clock,
}: {
  store: Pick<Store, 'documents' | 'now'>;
  clock: Clock;
}): SeenWorkers {
  const writtenAt = new Map<string, number>();
  return {
    seen: async (environmentId, workerId) => {
      const id = `${environmentId} ${digest(workerId)}`;
      const now = clock.steady();
      if (now - (writtenAt.get(id) ?? Number.NEGATIVE_INFINITY) < environmentLimits.workerSeenMs / 3) return;
      if (writtenAt.size >= environmentLimits.workersSeenMax) writtenAt.clear();
      writtenAt.set(id, now);
      await store.documents.put({ kind: kindOf(environmentId), id, data: {} });
    },
    count: async (environmentId) => {
      const now = await store.now();
      const { items } = await store.documents.list({ kind: kindOf(environmentId), limit: storeLimits.pageItemsMax });
      const old = items.filter(({ updatedAt }) => now - updatedAt >= environmentLimits.workerSeenMs);
      await Promise.all(old.map(({ kind, id }) => store.documents.delete(kind, id)));
      return items.length - old.length;
    },
  };
}

function kindOf(environmentId: string): string {
  return `worker ${environmentId}`;
}

/** Workers name themselves, and may do so at length. */
function digest(workerId: string): string {
  return createHash('sha256').update(workerId).digest('hex').slice(0, 32);
}
