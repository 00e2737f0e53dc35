import type { Store } from '../../store/store.ts';

/** The last sequence number of a session's log. Read it before the session's record, so that nothing later counts as seen. */
export async function headOf(store: Store, sessionId: string): Promise<number> {
  return (await store.heads([sessionId])).get(sessionId) ?? 0;
}
