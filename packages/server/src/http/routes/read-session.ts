import type { SessionData } from '../../frames/record-data.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { type Credential, mayReach } from '../auth/credential.ts';
import { doorError } from '../door-error.ts';

/** A session that the caller may see; any other does not exist. */
export async function readSession(store: Store, credential: Credential, sessionId: string): Promise<SessionRecord> {
  const record = await store.sessions.get(credential.workspaceId, sessionId);
  // Of which environment a session is, its path does not say.
  const isReached = record !== undefined && mayReach(credential, { sessionId, environmentId: record.environmentId });
  if (!isReached) throw doorError('unknown_id', `${sessionId} does not exist`);
  return record;
}

/** Where the log of a session ends. Read before its record, so that nothing is taken for seen that came later. */
export async function headOf(store: Store, sessionId: string): Promise<number> {
  return (await store.heads([sessionId])).get(sessionId) ?? 0;
}

/** Only sessions write it. */
export function dataOf({ data }: SessionRecord): SessionData {
  return data as unknown as SessionData;
}
