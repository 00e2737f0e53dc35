import { limits } from '../../base/limits.ts';
import type { RunRecord, SessionData } from '../../frames/record-data.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { SessionListRequest, Store } from '../../store/store.ts';

/** The sessions of a workspace, the newest first, up to a bound. */
export async function* listSessions(
  store: Pick<Store, 'sessions'>,
  filter: Omit<SessionListRequest, 'limit' | 'cursor'>,
  max: number = limits.fleetScanSessionsMax,
): AsyncGenerator<SessionRecord> {
  const request = { ...filter, limit: limits.recordPageItemsMax };
  let page = await store.sessions.list(request);
  for (let left = max; left > 0; left -= limits.recordPageItemsMax) {
    yield* page.items.slice(0, left);
    if (page.next === null) return;
    page = await store.sessions.list({ ...request, cursor: page.next });
  }
}

/** The newest run of a session. */
export function newestRunOf({ data }: Pick<SessionRecord, 'data'>): RunRecord | null {
  // Only sessions write it.
  return (data as unknown as SessionData).run;
}
