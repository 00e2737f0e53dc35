import { viewLimits } from './limits.ts';
import { type SessionFrame, toSessionFrame } from '../frames/frames.ts';
import type { StoredFrame } from '../store/frame.ts';
import { readBatches } from '../log/read-batches.ts';
import type { ReadRequest, Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';

/** Options of a read. Skipping deltas skips most of a log. */
export type ReadOptions = Pick<ReadRequest, 'skipsDeltas'>;

/** The frames behind a cursor, up to where the log ended when it was first read. */
export async function* readForward(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after: number,
  upTo = Number.POSITIVE_INFINITY,
  options: ReadOptions = {},
): AsyncGenerator<SessionFrame> {
  for await (const stored of readStoredForward(store, sessionId, after, upTo, options))
    yield toSessionFrame(stored.value);
}

/** The frames before a cursor, the newest first; null: from the end of the log. */
export async function* readBackward(
  store: Pick<Store, 'read' | 'heads'>,
  sessionId: string,
  before: number | null,
  options: ReadOptions = {},
): AsyncGenerator<SessionFrame> {
  for await (const stored of readStoredBackward(store, sessionId, before, options)) yield toSessionFrame(stored.value);
}

/** Like `readForward`, but the frames are not parsed. */
export async function* readStoredForward(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after: number,
  upTo = Number.POSITIVE_INFINITY,
  options: ReadOptions = {},
): AsyncGenerator<StoredFrame> {
  if (after >= upTo) return;
  for await (const entries of readBatches(store, sessionId, after, options)) {
    for (const entry of entries) {
      if (entry.seq > upTo) return;
      if (entry.kind === 'frame') yield entry;
    }
    // Saves a read: no later frame is needed.
    if (entries.at(-1)!.lastSeq >= upTo) return;
  }
}

/** Like `readBackward`, but the frames are not parsed. */
export async function* readStoredBackward(
  store: Pick<Store, 'read' | 'heads'>,
  sessionId: string,
  before: number | null,
  options: ReadOptions = {},
): AsyncGenerator<StoredFrame> {
  let end = before === null ? ((await store.heads([sessionId])).get(sessionId) ?? 0) : before - 1;
  let count: number = viewLimits.backwardFramesMax;
  while (end > 0) {
    const start = Math.max(0, end - count);
    const frames = await readSpan(store, sessionId, { start, end }, options);
    if (frames === undefined) {
      count = Math.max(1, Math.floor((end - start) / 2));
      continue;
    }
    yield* frames.toReversed();
    end = start;
    // Where nearly all frames are skipped, a larger span costs no more.
    const isSparse = frames.length < viewLimits.backwardFramesMax / 2;
    count = isSparse ? Math.min(count * 2, SPAN_MAX) : viewLimits.backwardFramesMax;
  }
}

/** Reads a span of frames; undefined if their bytes exceed the limit. A single frame never does. */
async function readSpan(
  store: Pick<Store, 'read'>,
  sessionId: string,
  { start, end }: { readonly start: number; readonly end: number },
  options: ReadOptions,
): Promise<StoredFrame[] | undefined> {
  const frames: StoredFrame[] = [];
  let bytes = 0;
  for await (const stored of readStoredForward(store, sessionId, start, end, options)) {
    frames.push(stored);
    bytes += stored.bytes.length;
    if (bytes > viewLimits.backwardBytesMax && end - start > 1) return undefined;
  }
  return frames;
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
  const stored = await readStored(store, sessionId, seq);
  return stored && toSessionFrame(stored.value);
}

/** Like `readOne`, not parsed yet. */
export async function readStored(
  store: Pick<Store, 'read'>,
  sessionId: string,
  seq: number,
): Promise<StoredFrame | undefined> {
  const [entry] = await store.read({ sessionId, after: seq - 1, entriesMax: 1, bytesMax: 1 });
  return entry?.kind === 'frame' ? entry : undefined;
}

function found(frame: SessionFrame | undefined, sessionId: string): SessionFrame {
  if (frame === undefined) throw storeError('log_broken', `the log of ${sessionId} has no first frame`);
  return frame;
}
