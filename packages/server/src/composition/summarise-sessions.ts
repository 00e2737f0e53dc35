import { createPace } from '../base/create-pace.ts';
import { readState, toSummary } from '../sessions/index.ts';
import { storeLimits } from '../store/limits.ts';
import type { Store } from '../store/store.ts';

/**
 * Adds the summaries of sessions that an older version wrote, from their logs. It runs in the background, a few at a time, and does
 * nothing once all sessions have one. A session that its owner changes in the meantime gets its summary from that change.
 */
export function startSummaries(store: Store, onProblem: (problem: unknown) => void): { close(): Promise<void> } {
  const ending = new AbortController();
  const ended = addSummaries(store, ending.signal, onProblem).catch(onProblem);
  return {
    close: async () => {
      ending.abort();
      await ended;
    },
  };
}

async function addSummaries(store: Store, signal: AbortSignal, onProblem: (problem: unknown) => void): Promise<void> {
  const pace = createPace();
  const failed = new Set<string>();
  while (!signal.aborted) {
    // Failed sessions are found again, so their number is added to the limit.
    const found = await store.summaries.findMissing(storeLimits.storeSliceRowsMax + failed.size);
    const missing = found.filter((sessionId) => !failed.has(sessionId));
    if (missing.length === 0) return;
    for (const sessionId of missing) {
      await pace();
      if (signal.aborted) return;
      try {
        await summarise(store, sessionId);
      } catch (error) {
        failed.add(sessionId);
        onProblem(error);
      }
    }
  }
}

async function summarise(store: Store, sessionId: string): Promise<void> {
  const state = await readState(store, sessionId);
  if (state !== undefined) await store.summaries.add(sessionId, toSummary(state));
}
