import type { Frame } from '../store/frame.ts';
import { readBatches } from './read-batches.ts';
import type { SeqRange, Store } from '../store/store.ts';

/** Which deltas of a session are removed. */
export interface PruneDeltasRequest {
  readonly store: Pick<Store, 'read' | 'prune'>;
  readonly sessionId: string;
  /** Only deltas of turns that ended before this time are removed. */
  readonly endedBefore: number;
  /** Whether a later frame of the same turn repeats the content of this one. */
  readonly isDelta: (frame: Frame) => boolean;
  readonly isTurnEnd: (frame: Frame) => boolean;
}

/**
 * Removes the deltas of turns that have ended. Folding the log gives the same result, because the turn also wrote
 * each block as a whole; only its steps are lost. Resolves with the number of removed frames.
 *
 * Deltas of an open turn are kept: until the whole block is written, they are its only record.
 */
export async function pruneDeltas(request: PruneDeltasRequest): Promise<number> {
  const { store, sessionId, endedBefore, isDelta, isTurnEnd } = request;
  const deltasOf = new Map<string, MutableRange[]>();
  let ended: MutableRange[] = [];
  let pruned = 0;
  const prune = async () => {
    if (ended.length === 0) return;
    // Turns end in any order, and `prune` takes ranges in the order of the log.
    await store.prune(sessionId, join(ended));
    ended = [];
  };
  for await (const entries of readBatches(store, sessionId)) {
    for (const entry of entries) {
      if (entry.kind !== 'frame' || entry.value.turn === null) continue;
      const { value: frame } = entry;
      const turn = `${entry.value.turn.streamId} ${entry.value.turn.run}`;
      if (isDelta(frame)) addTo(deltasOf, turn, frame.seq);
      if (!isTurnEnd(frame)) continue;
      const deltas = deltasOf.get(turn) ?? [];
      deltasOf.delete(turn);
      if (frame.time >= endedBefore) continue;
      for (const range of deltas) {
        ended.push(range);
        pruned += range.lastSeq - range.firstSeq + 1;
      }
    }
    if (ended.length >= RANGES_AT_ONCE) await prune();
  }
  await prune();
  return pruned;
}

/** Ranges of ended turns are pruned in batches of this size, to bound memory. */
const RANGES_AT_ONCE = 10_000;

interface MutableRange {
  readonly firstSeq: number;
  lastSeq: number;
}

function addTo(deltasOf: Map<string, MutableRange[]>, turn: string, seq: number): void {
  const ranges = deltasOf.get(turn);
  const last = ranges?.at(-1);
  if (last !== undefined && last.lastSeq + 1 === seq) last.lastSeq = seq;
  else if (ranges !== undefined) ranges.push({ firstSeq: seq, lastSeq: seq });
  else deltasOf.set(turn, [{ firstSeq: seq, lastSeq: seq }]);
}

/** Sorted, with adjacent ranges joined. */
function join(ranges: readonly MutableRange[]): SeqRange[] {
  const joined: MutableRange[] = [];
  for (const { firstSeq, lastSeq } of ranges.toSorted((a, b) => a.firstSeq - b.firstSeq)) {
    const last = joined.at(-1);
    if (last !== undefined && last.lastSeq + 1 === firstSeq) last.lastSeq = lastSeq;
    else joined.push({ firstSeq, lastSeq });
  }
  return joined;
}
