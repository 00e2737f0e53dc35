import type { SessionData } from '../../frames/record-data.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { type Credential, mayReach } from '../../keys/credential.ts';
import { requestError } from '../../base/request-error.ts';

/** Reads a session. One that the caller may not read is reported as not existing. */
export async function readSession(store: Store, credential: Credential, sessionId: string): Promise<SessionRecord> {
  const record = await store.sessions.get(credential.workspaceId, sessionId);
  // The environment of a session is known only from its record.
  const isReached = record !== undefined && mayReach(credential, { sessionId, environmentId: record.environmentId });
  if (!isReached) throw requestError('unknown_id', `${sessionId} does not exist`);
  return record;
}

/** The typed data of a session record, which only the sessions module writes. */
export function dataOf({ data }: SessionRecord): SessionData {
  return data as unknown as SessionData;
}
