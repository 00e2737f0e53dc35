import { limits } from '../base/limits.ts';
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
  const { logBatchEntriesMax: entriesMax, logBatchBytesMax: bytesMax } = limits;
  let state: SessionState | undefined;
  let after = 0;
  while (true) {
    const entries = await store.read({ sessionId, after, entriesMax, bytesMax });
    if (entries.length === 0) return state;
    for (const entry of entries) {
      if (entry.lastSeq > upTo) return state;
      // Pruned are only deltas, which leave no trace in the state.
      if (entry.kind === 'pruned') continue;
      const frame = toSessionFrame(entry.value);
      if (state === undefined) state = beginState(sessionId, frame);
      else evolve(state, frame);
    }
    after = entries.at(-1)!.lastSeq;
  }
}
