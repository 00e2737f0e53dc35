import { limits } from '../base/limits.ts';
import { type SessionFrame, toSessionFrame } from '../frames/frames.ts';
import { readBatches } from '../store/read-batches.ts';
import type { Store } from '../store/store.ts';

/** The frames behind a cursor, up to where the log ended when it was first read. */
export async function* readForward(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after: number,
  upTo = Number.POSITIVE_INFINITY,
): AsyncGenerator<SessionFrame> {
  if (after >= upTo) return;
  for await (const entries of readBatches(store, sessionId, after)) {
    for (const entry of entries) {
      if (entry.seq > upTo) return;
      if (entry.kind === 'frame') yield toSessionFrame(entry.value);
    }
    // One look less: behind it there is nothing that anybody wants.
    if (entries.at(-1)!.lastSeq >= upTo) return;
  }
}

/** The frames before a cursor, the newest first; null: from the end of the log. */
export async function* readBackward(
  store: Pick<Store, 'read' | 'heads'>,
  sessionId: string,
  before: number | null,
): AsyncGenerator<SessionFrame> {
  let end = before === null ? ((await store.heads([sessionId])).get(sessionId) ?? 0) : before - 1;
  while (end > 0) {
    const start = Math.max(0, end - limits.backwardFramesMax);
    const frames: SessionFrame[] = [];
    for await (const frame of readForward(store, sessionId, start, end)) frames.push(frame);
    yield* frames.toReversed();
    end = start;
  }
}
