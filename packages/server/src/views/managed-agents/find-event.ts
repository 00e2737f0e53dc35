import { timeOfId } from '../../base/ids.ts';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import type { SessionFrame } from '../../frames/frames.ts';
import type { Store } from '../../store/store.ts';
import { readBackward, readForward } from '../read-frames.ts';

type Readable = Pick<Store, 'read' | 'heads'>;

/**
 * The frame of an event, by its id: the last frame for a message that was queued first and processed later. An id contains the
 * time of its creation, so the search begins where the log reaches that time. The whole log is read only if that fails.
 */
export async function findEvent(store: Readable, sessionId: string, id: string): Promise<number | undefined> {
  const time = timeOfId(id);
  const near = time === undefined ? undefined : await findNear(store, sessionId, id, time);
  if (near !== undefined) return near;
  for await (const frame of readBackward(store, sessionId, null, SKIP)) if (isOf(id, frame)) return frame.seq;
  return undefined;
}

const SKIP = { skipsDeltas: true };

/** Searches behind the last frame that is older than the id: an id is made before its frame is written. */
async function findNear(store: Readable, sessionId: string, id: string, time: number): Promise<number | undefined> {
  const after = await findTime(store, sessionId, time - viewLimits.fleetMarginMs);
  let count = 0;
  for await (const frame of readForward(store, sessionId, after, undefined, SKIP)) {
    if (isOf(id, frame) && !isQueued(frame)) return frame.seq;
    if (++count >= NEAR_MAX) return undefined;
  }
  return undefined;
}

/** Events that are searched near the time of an id. */
const NEAR_MAX = 5_000;

/** The last older frame, by binary search. The result is only a guess if a clock was set back. */
async function findTime(store: Readable, sessionId: string, time: number): Promise<number> {
  let [low, high] = [0, (await store.heads([sessionId])).get(sessionId) ?? 0];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const request = { sessionId, after: middle - 1, entriesMax: 2, bytesMax: storeLimits.logBatchBytesMax, ...SKIP };
    const frame = (await store.read(request)).find((entry) => entry.kind === 'frame');
    if (frame?.kind === 'frame' && frame.value.time < time) low = Math.min(frame.seq, high);
    else high = middle - 1;
  }
  return low;
}

function isOf(id: string, { payload }: SessionFrame): boolean {
  return 'id' in payload && payload.id === id;
}

/** A second frame follows when the message is processed. */
function isQueued({ type, payload }: SessionFrame): boolean {
  return (type === 'user.message' || type === 'system.message') && !payload.is_processed;
}
