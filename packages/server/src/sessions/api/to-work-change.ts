import type { Ids } from '../../base/ids.ts';
import { environmentLimits } from '../../environments/limits.ts';
import { toNewWork } from '../../environments/work-data.ts';
import type { SubmitChange } from '../../store/write.ts';

/** Queues work for a self-hosted worker, unless the session has queued work. */
export function toWorkChange(ids: Ids, time: number): SubmitChange {
  return { type: 'enqueue_work', work: toNewWork(ids.next('work'), time, { ttlMs: environmentLimits.workLeaseMs }) };
}
