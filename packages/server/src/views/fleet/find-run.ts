import type { Store } from '../../store/store.ts';
import { loadCheckpoint } from './load-checkpoint.ts';
import type { WholeCheckpoint } from './view-checkpoint.ts';

/** Where folding begins for a reader that has received everything up to a frame. */
export interface FoldStart {
  /** The last frame before the first one to fold. */
  readonly seq: number;
  /** The saved views at that frame; undefined: only the first frame of the log has to be folded. */
  readonly checkpoint: WholeCheckpoint | undefined;
}

/**
 * The newest checkpoint in the run of a frame, or the start of that run, or the end of the previous run for a frame between two
 * runs. The cost does not depend on the length of the log or the run.
 */
export async function findFold(
  store: Pick<Store, 'runs' | 'checkpoints'>,
  sessionId: string,
  seen: number,
): Promise<FoldStart> {
  if (!(seen > 0)) return { seq: 0, checkpoint: undefined };
  const run = await store.runs.findAt(sessionId, seen);
  if (run === undefined) return { seq: 0, checkpoint: undefined };
  // The end of a run gives several events, of which the reader may have received the first.
  if (run.lastSeq !== null && run.lastSeq < seen) return { seq: run.lastSeq, checkpoint: undefined };
  const checkpoint = await loadCheckpoint(store, sessionId, { from: run.firstSeq, upTo: seen - 1 });
  if (checkpoint !== undefined) return { seq: checkpoint.seq, checkpoint };
  return { seq: run.firstSeq - 1, checkpoint: undefined };
}
