import type { Ids } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { toNewWork } from '../environments/work-data.ts';
import type { SubmitChange } from '../store/write.ts';

/** Lets a worker know of a session, unless one does already. */
export function toWorkChange(ids: Ids, time: number): SubmitChange {
  return { type: 'enqueue_work', work: toNewWork(ids.next('work'), time, { ttlMs: limits.workLeaseMs }) };
}
