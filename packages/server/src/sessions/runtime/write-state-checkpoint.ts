import { createPace } from '../../base/create-pace.ts';
import { sessionLimits } from '../core/limits.ts';
import type { CheckpointRequest } from '../../log/checkpointer.ts';
import { bytesOf } from '../../store/entries.ts';
import { readBatches } from '../../log/read-batches.ts';
import type { Store } from '../../store/store.ts';
import { readState } from './read-state.ts';
import { encodeState, STATE_CHECKPOINT } from '../core/state/saved-state.ts';

/** A checkpoint to be written. */
export interface WriteStateCheckpoint extends CheckpointRequest {
  readonly store: Pick<Store, 'read' | 'checkpoints'>;
  /** Bytes of frames other than deltas that must follow the newest checkpoint. */
  readonly bytes?: number;
  /** Sessions whose state exceeded the limit, with the head of that attempt. They are tried again when the log has doubled. */
  readonly tooLarge?: Map<string, number>;
}

/**
 * Stores the state of a session at a frame, so that the next owner does not fold the frames before it. A state can be large:
 * the next checkpoint is written when the frames since the newest one have at least its size, so that all checkpoints together
 * are not larger than the log.
 */
export async function writeStateCheckpoint(request: WriteStateCheckpoint): Promise<void> {
  const { store, sessionId, head, signal, bytes = sessionLimits.stateCheckpointBytes } = request;
  const { tooLarge } = request;
  if (head < 2 * (tooLarge?.get(sessionId) ?? 0)) return;
  const epoch = await store.checkpoints.epoch(sessionId);
  const kept = await store.checkpoints.findSeq({ sessionId, kind: STATE_CHECKPOINT, upTo: head });
  if (!(await hasEvents(request, kept?.seq ?? 0, Math.max(bytes, kept?.bytes ?? 0)))) return;
  const state = await readState(store, sessionId, { upTo: head });
  if (state === undefined || signal.aborted) return;
  const data = await encodeState(state);
  tooLarge?.delete(sessionId);
  if (data === undefined) return void tooLarge?.set(sessionId, head);
  const checkpoint = { sessionId, kind: STATE_CHECKPOINT, seq: head, data, epoch };
  await store.checkpoints.put({ ...checkpoint, dependsOnDeltas: false, replacesOlder: true });
}

/** Whether at least this many bytes of frames other than deltas lie between two frames. Frames are not parsed for that. */
async function hasEvents(
  { store, sessionId, head }: WriteStateCheckpoint,
  after: number,
  bytesMin: number,
): Promise<boolean> {
  let bytes = 0;
  for await (const entries of readBatches(store, sessionId, after, { skipsDeltas: true, pace: createPace() })) {
    for (const entry of entries) bytes += entry.kind === 'frame' && entry.seq <= head ? bytesOf(entry) : 0;
    if (bytes >= bytesMin) return true;
    if (entries.at(-1)!.lastSeq >= head) return false;
  }
  return false;
}
