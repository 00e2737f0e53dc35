import { limits } from '../base/limits.ts';
import { type SessionFrame, toSessionFrame } from '../frames/frames.ts';
import { readBatches } from '../store/read-batches.ts';
import type { ReadRequest, Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';

/** Skipping deltas skips most of a log. */
export type ReadOptions = Pick<ReadRequest, 'skipsDeltas'>;

/** The frames behind a cursor, up to where the log ended when it was first read. */
export async function* readForward(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after: number,
  upTo = Number.POSITIVE_INFINITY,
  options: ReadOptions = {},
): AsyncGenerator<SessionFrame> {
  if (after >= upTo) return;
  for await (const entries of readBatches(store, sessionId, after, options)) {
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
  options: ReadOptions = {},
): AsyncGenerator<SessionFrame> {
  let end = before === null ? ((await store.heads([sessionId])).get(sessionId) ?? 0) : before - 1;
  let count: number = limits.backwardFramesMax;
  while (end > 0) {
    const start = Math.max(0, end - count);
    const frames: SessionFrame[] = [];
    for await (const frame of readForward(store, sessionId, start, end, options)) frames.push(frame);
    yield* frames.toReversed();
    end = start;
    // Where nearly all frames are skipped, a larger span costs no more.
    count = frames.length < limits.backwardFramesMax / 2 ? Math.min(count * 2, SPAN_MAX) : limits.backwardFramesMax;
  }
}

const SPAN_MAX = 1_000_000;

/** The first frame of a log, which says what the session is. */
export async function readFirst(store: Pick<Store, 'read'>, sessionId: string): Promise<SessionFrame> {
  return found(await readOne(store, sessionId, 1), sessionId);
}

/** One frame by its number; undefined if there is none, or it was pruned. */
export async function readOne(
  store: Pick<Store, 'read'>,
  sessionId: string,
  seq: number,
): Promise<SessionFrame | undefined> {
  const [entry] = await store.read({ sessionId, after: seq - 1, entriesMax: 1, bytesMax: 1 });
  return entry?.kind === 'frame' ? toSessionFrame(entry.value) : undefined;
}

function found(frame: SessionFrame | undefined, sessionId: string): SessionFrame {
  if (frame === undefined) throw storeError('log_broken', `the log of ${sessionId} has no first frame`);
  return frame;
}
