import { readBatches } from '../store/read-batches.ts';
import type { Store } from '../store/store.ts';
import { beginState } from './begin-state.ts';
import { evolve } from './evolve.ts';
import { toSessionFrame } from '../frames/frames.ts';
import type { SessionState } from './state.ts';

/** Folds the log of a session up to its end, or up to a frame. Undefined: there is no such session. */
export async function readState(
  store: Pick<Store, 'read'>,
  sessionId: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<SessionState | undefined> {
  let state: SessionState | undefined;
  for await (const entries of readBatches(store, sessionId)) {
    for (const entry of entries) {
      if (entry.lastSeq > upTo) return state;
      // Pruned are only deltas, which leave no trace in the state.
      if (entry.kind === 'pruned') continue;
      const frame = toSessionFrame(entry.value);
      if (state === undefined) state = beginState(sessionId, frame);
      else evolve(state, frame);
    }
  }
  return state;
}
