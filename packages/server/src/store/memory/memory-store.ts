import { type Clock, systemClock } from '../../base/clock.ts';
import { createBlobs } from '../blobs.ts';
import { bytesOf, pruneEntries, selectEntries } from '../entries.ts';
import type { Entry } from '../frame.ts';
import { found } from '../guards.ts';
import type { NewCheckpoint, Signal, Store } from '../store.ts';
import { storeError } from '../store-errors.ts';
import { createAuditLog } from './audit-log.ts';
import { createCheckpoints } from './checkpoints.ts';
import { commitWrites } from './commit.ts';
import { createBlobParts, createDocuments } from './documents.ts';
import { createLeases } from './leases.ts';
import { createRecords } from './records.ts';
import { createRuns } from './runs.ts';
import { selectEvents } from './select-events.ts';
import { State } from './state.ts';
import { createSummaries } from './summaries.ts';

/** A store in memory, for tests: the simple implementation that the others are compared with. */
export function createMemoryStore({ clock = systemClock }: { clock?: Clock } = {}): Store {
  const state = new State();
  const listeners = new Set<(signals: readonly Signal[]) => void>();
  let isClosed = false;

  const store: Omit<Store, 'blobs'> = {
    ...createRecords(state, clock),
    leases: createLeases(state, clock),
    documents: createDocuments(state, clock),
    now: async () => clock.now(),

    commit: async (writes) => {
      const { outcomes, signals } = commitWrites(state, clock, writes);
      if (signals.length > 0) queueMicrotask(() => listeners.forEach((listener) => listener(signals)));
      return outcomes;
    },

    audit: createAuditLog(state, clock),
    runs: createRuns(state),
    summaries: createSummaries(state),
    checkpoints: createCheckpoints(state),

    read: async ({ sessionId, skipsDeltas = false, ...request }) => {
      const log = found(state.logs.get(sessionId), sessionId);
      return skipsDeltas ? selectEvents(sessionId, log, request) : selectEntries(log.entries, request);
    },

    logBytes: async (sessionId, after) => {
      const entries = state.logs.get(sessionId)?.entries ?? [];
      const isCounted = (entry: Entry) => entry.kind === 'frame' && !entry.isDelta && entry.seq > after;
      return entries.reduce((sum, entry) => sum + (isCounted(entry) ? bytesOf(entry) : 0), 0);
    },

    heads: async (sessionIds) => {
      const heads = sessionIds.map((id) => [id, state.logs.get(id)?.head] as const);
      return new Map(heads.filter((pair): pair is [string, number] => pair[1] !== undefined));
    },

    prune: async (sessionId, ranges) => {
      const log = found(state.logs.get(sessionId), sessionId);
      const [first] = ranges;
      if (first === undefined) return;
      const entries = pruneEntries(log.entries, ranges);
      const eventSeqs = entries.filter((entry) => entry.kind === 'frame' && !entry.isDelta).map(({ seq }) => seq);
      const isKept = ({ seq, dependsOnDeltas }: NewCheckpoint) => !dependsOnDeltas || seq < first.firstSeq;
      const checkpoints = log.checkpoints.filter(isKept);
      state.logs.set(sessionId, { ...log, entries, eventSeqs, checkpoints, epoch: log.epoch + 1 });
    },

    subscribe: (onSignals) => {
      listeners.add(onSignals);
      return () => void listeners.delete(onSignals);
    },

    close: async () => {
      isClosed = true;
      listeners.clear();
    },
  };
  const blobs = createBlobs(refuseWhenClosed(createBlobParts(), () => isClosed));
  return { ...refuseWhenClosed(store, () => isClosed), blobs };
}

/** Wraps every function of the store and its parts with a check that the store is open. */
function refuseWhenClosed<Part extends object>(part: Part, isClosed: () => boolean): Part {
  const guarded = Object.entries(part).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null) return [name, refuseWhenClosed(value, isClosed)];
    if (typeof value !== 'function' || name === 'close' || name === 'subscribe') return [name, value];
    return [name, (...args: unknown[]) => (isClosed() ? refuse() : (value(...args) as unknown))];
  });
  // The same names with functions of the same types.
  return Object.fromEntries(guarded) as Part;
}

async function refuse(): Promise<never> {
  throw storeError('closed', 'the store is closed');
}
