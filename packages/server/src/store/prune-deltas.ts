import type { Frame } from './frame.ts';
import { readBatches } from './read-batches.ts';
import type { SeqRange, Store } from './store.ts';

export interface PruneDeltasRequest {
  readonly store: Pick<Store, 'read' | 'prune'>;
  readonly sessionId: string;
  /** Only of turns that ended before this time. */
  readonly endedBefore: number;
  /** Whether a later frame of the same turn says again what this one says. */
  readonly isDelta: (frame: Frame) => boolean;
  readonly isTurnEnd: (frame: Frame) => boolean;
}

/**
 * Removes the deltas of turns that have ended. What folds out of the log stays the same, because the turn also wrote
 * each block as a whole; only how it grew is gone. Gives back how many frames went.
 *
 * Deltas of a turn that is still open stay: until the whole block is there they are all that is known of it.
 */
export async function pruneDeltas(request: PruneDeltasRequest): Promise<number> {
  const { store, sessionId, endedBefore, isDelta, isTurnEnd } = request;
  const deltasOf = new Map<string, number[]>();
  const ended: number[] = [];
  for await (const frame of readFrames(store, sessionId)) {
    if (frame.turn === null) continue;
    const turn = `${frame.turn.streamId} ${frame.turn.run}`;
    const deltas = deltasOf.get(turn) ?? [];
    if (isDelta(frame)) deltas.push(frame.seq);
    deltasOf.set(turn, deltas);
    if (!isTurnEnd(frame)) continue;
    deltasOf.delete(turn);
    if (frame.time < endedBefore) ended.push(...deltas);
  }
  if (ended.length > 0) await store.prune(sessionId, toRanges(ended));
  return ended.length;
}

async function* readFrames(store: Pick<Store, 'read'>, sessionId: string): AsyncGenerator<Frame> {
  for await (const entries of readBatches(store, sessionId)) {
    for (const entry of entries) if (entry.kind === 'frame') yield entry.value;
  }
}

/** Turns end in any order, and the ranges are wanted in that of the log. */
function toRanges(seqs: number[]): SeqRange[] {
  const ranges: { firstSeq: number; lastSeq: number }[] = [];
  for (const seq of seqs.sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.lastSeq + 1 === seq) last.lastSeq = seq;
    else ranges.push({ firstSeq: seq, lastSeq: seq });
  }
  return ranges;
}
