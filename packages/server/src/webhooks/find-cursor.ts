import { toSessionFrame } from '../frames/frames.ts';
import type { SessionData } from '../frames/record-data.ts';
import type { SessionRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { readBackward } from '../views/read-frames.ts';
import type { WebhookCursor } from './webhook-cursors.ts';

/** A session without a stored delivery cursor. */
export interface FindCursor {
  readonly store: Pick<Store, 'sessions' | 'read' | 'heads'>;
  readonly workspaces: () => Promise<readonly string[]>;
  readonly sessionId: string;
  /** When the address was configured: older events are not delivered. */
  readonly since: number;
}

/** The first cursor of an address in a session; undefined if the session does not exist. */
export async function findCursor({
  store,
  workspaces,
  sessionId,
  since,
}: FindCursor): Promise<WebhookCursor | undefined> {
  const session = await findSession(store, await workspaces(), sessionId);
  if (session === undefined) return undefined;
  const { workspaceId, createdAt } = session;
  // Only sessions write these records.
  const { primary_thread_id: primaryThreadId, is_read_only: isSilent = false } = session.data as unknown as SessionData;
  const cursor = { workspaceId, primaryThreadId, seq: 0, deliverFrom: 0, isSilent };
  if (isSilent) return cursor;
  if (createdAt < since) return { ...cursor, seq: await findLastBefore(store, sessionId, since) };
  return { ...cursor, deliverFrom: (await isFork(store, sessionId)) ? createdAt : 0 };
}

async function findSession(
  { sessions }: Pick<Store, 'sessions'>,
  workspaces: readonly string[],
  sessionId: string,
): Promise<SessionRecord | undefined> {
  for (const workspaceId of workspaces) {
    const session = await sessions.get(workspaceId, sessionId);
    if (session !== undefined) return session;
  }
  return undefined;
}

/** The last frame older than a time; 0 if there is none. */
async function findLastBefore(store: FindCursor['store'], sessionId: string, time: number): Promise<number> {
  const frames = readBackward(store, sessionId, null, { skipsDeltas: true });
  for await (const frame of frames) if (frame.time < time) return frame.seq;
  return 0;
}

/** Whether the log of a session begins with a copy of another session's log. */
async function isFork(store: Pick<Store, 'read'>, sessionId: string): Promise<boolean> {
  const [first] = await store.read({ sessionId, after: 0, entriesMax: 1, bytesMax: 1 });
  const frame = first?.kind === 'frame' ? toSessionFrame(first.value) : undefined;
  return frame?.type === 'session.created' && frame.payload.forked_from !== undefined;
}
