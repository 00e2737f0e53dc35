import { storeLimits } from '../../store/limits.ts';
import { createPace } from '../../base/create-pace.ts';
import { logLimits } from '../../log/limits.ts';
import { toSessionFrame } from '../../frames/frames.ts';
import { bytesOf } from '../../store/entries.ts';
import type { CheckpointRequest } from '../../log/checkpointer.ts';
import { readBatches } from '../../log/read-batches.ts';
import type { Store } from '../../store/store.ts';
import { readFirst } from '../read-frames.ts';
import { findFold } from './find-run.ts';
import { AllViews, FLEET_CHECKPOINT } from './view-checkpoint.ts';

export interface WriteCheckpoints extends CheckpointRequest {
  readonly store: Pick<Store, 'read' | 'runs' | 'checkpoints'>;
  /** Frames between two checkpoints. */
  readonly frames?: number;
}

/**
 * Writes the missing checkpoints of the run that contains the frame `head`, from its newest checkpoint on. A run shorter than
 * the spacing has none, and nearly every run is.
 */
export async function writeFleetCheckpoints(request: WriteCheckpoints): Promise<void> {
  const { store, sessionId, head, signal, frames = logLimits.checkpointFrames } = request;
  const epoch = await store.checkpoints.epoch(sessionId);
  const start = await findFold(store, sessionId, head);
  if (head - start.seq < frames) return;
  const views = new AllViews(start.checkpoint);
  const pace = createPace();
  if (start.checkpoint === undefined && start.seq > 0) views.take(await readFirst(store, sessionId));
  let [since, bytes, lastBytes] = [0, 0, start.checkpoint?.bytes ?? 0];
  for await (const entries of readBatches(store, sessionId, start.seq, { pace })) {
    for (const entry of entries) {
      if (entry.kind === 'pruned') views.skip();
      else views.take(toSessionFrame(entry.value));
      since += entry.lastSeq - entry.seq + 1;
      bytes += bytesOf(entry);
      // Gates and calls of open turns may hold much. All checkpoints together must not be larger than the log.
      if (since < frames || bytes < lastBytes) continue;
      const data = views.save();
      const kept = { sessionId, kind: FLEET_CHECKPOINT, seq: entry.lastSeq, data, epoch };
      if (data.length <= storeLimits.checkpointBytesMax) {
        await store.checkpoints.put({ ...kept, dependsOnDeltas: true, replacesOlder: false });
        views.markSaved(entry.lastSeq);
      }
      [since, bytes, lastBytes] = [0, 0, data.length];
    }
    if (signal.aborted || entries.at(-1)!.lastSeq >= head) return;
  }
}
