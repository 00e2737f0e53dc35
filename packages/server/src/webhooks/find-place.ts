import { toSessionFrame } from '../frames/frames.ts';
import type { SessionData } from '../frames/record-data.ts';
import type { SessionRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { readBackward } from '../views/read-frames.ts';
import type { WebhookPlace } from './webhook-places.ts';

export interface FindPlace {
  readonly store: Pick<Store, 'sessions' | 'read' | 'heads'>;
  readonly workspaces: () => Promise<readonly string[]>;
  readonly sessionId: string;
  /** Since when there is the address. What happened before is not told. */
  readonly since: number;
}

/** Where an address that was not told of a session yet begins. Nothing if there is no such session. */
export async function findPlace({ store, workspaces, sessionId, since }: FindPlace): Promise<WebhookPlace | undefined> {
  const session = await findSession(store, await workspaces(), sessionId);
  if (session === undefined) return undefined;
  const { workspaceId, createdAt } = session;
  // Only sessions write it.
  const { primary_thread_id: primaryThreadId, is_read_only: isSilent = false } = session.data as unknown as SessionData;
  const place = { workspaceId, primaryThreadId, seq: 0, toldFrom: 0, isSilent };
  if (isSilent) return place;
  if (createdAt < since) return { ...place, seq: await findLastBefore(store, sessionId, since) };
  return { ...place, toldFrom: (await isFork(store, sessionId)) ? createdAt : 0 };
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

/** The last frame that is older; 0 if none is. */
async function findLastBefore(store: FindPlace['store'], sessionId: string, time: number): Promise<number> {
  const frames = readBackward(store, sessionId, null, { skipsDeltas: true });
  for await (const frame of frames) if (frame.time < time) return frame.seq;
  return 0;
}

/** Its log begins with that of another session. */
async function isFork(store: Pick<Store, 'read'>, sessionId: string): Promise<boolean> {
  const [first] = await store.read({ sessionId, after: 0, entriesMax: 1, bytesMax: 1 });
  const frame = first?.kind === 'frame' ? toSessionFrame(first.value) : undefined;
  return frame?.type === 'session.created' && frame.payload.forked_from !== undefined;
}
