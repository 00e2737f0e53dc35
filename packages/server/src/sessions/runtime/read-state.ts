import { sessionLimits } from '../core/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { toSessionFrame } from '../../frames/frames.ts';
import { bytesOf } from '../../store/entries.ts';
import { readBatches } from '../../log/read-batches.ts';
import type { Store } from '../../store/store.ts';
import { beginState } from '../core/state/begin-state.ts';
import { evolve } from '../core/state/evolve.ts';
import { decodeState, STATE_CHECKPOINT } from '../core/state/saved-state.ts';
import type { SessionState } from '../core/state/state.ts';

/** Options for reading a state. */
export interface ReadStateOptions {
  /** The last frame that is folded. */
  readonly upTo?: number;
  /** Called when a long log was read without a checkpoint near its end. */
  readonly onLong?: ((sessionId: string, head: number) => void) | undefined;
}

/**
 * The state of a session, folded from its log up to its end, or up to a frame: from its newest checkpoint on if there is one.
 * Undefined if the session does not exist.
 */
export async function readState(
  store: Pick<Store, 'read' | 'checkpoints'>,
  sessionId: string,
  { upTo = Number.POSITIVE_INFINITY, onLong }: ReadStateOptions = {},
): Promise<SessionState | undefined> {
  const kept = await store.checkpoints.find({ sessionId, kind: STATE_CHECKPOINT, upTo });
  let state = kept === undefined ? undefined : await decodeState(kept.data);
  let [head, bytes] = [kept?.seq ?? 0, 0];
  // Deltas do not change the state.
  for await (const entries of readBatches(store, sessionId, head, { skipsDeltas: true })) {
    for (const entry of entries) {
      if (entry.lastSeq > upTo) return state;
      head = entry.lastSeq;
      if (entry.kind === 'pruned') continue;
      bytes += bytesOf(entry);
      const frame = toSessionFrame(entry.value);
      if (state === undefined) state = beginState(sessionId, frame);
      else evolve(state, frame);
    }
  }
  if (bytes >= Math.max(sessionLimits.stateCheckpointBytes, kept?.bytes ?? 0)) onLong?.(sessionId, head);
  // A roster or a history may have megabytes, and what follows serialises them again.
  await yieldToEventLoop();
  return state;
}
