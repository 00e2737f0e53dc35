import { type Clock, systemClock } from '../../base/clock.ts';
import { FleetloomError } from '../../base/errors.ts';
import type { Signal, Store } from '../store.ts';
import { storeError } from '../store-errors.ts';
import { createBlobs } from '../blobs.ts';
import { createAgents } from './agents.ts';
import { createBlobParts } from './blob-parts.ts';
import { createCommit } from './commit.ts';
import { Database, isDatabaseError } from './database.ts';
import { createDocuments } from './documents.ts';
import { createEnvironments } from './environments.ts';
import { createKeys } from './keys.ts';
import { createLeases } from './leases.ts';
import { migrate } from './migrate.ts';
import { Segments } from './segments.ts';
import { createSessions } from './sessions.ts';
import { createWorks } from './works.ts';

/**
 * The default store: one file, in one process.
 *
 * @example
 * const store = await openSqliteStore({ path: 'fleetloom.db' });
 */
export async function openSqliteStore({ path, clock }: { path: string; clock?: Clock }): Promise<Store> {
  const database = await Database.open(path);
  try {
    return createSqliteStore(database, clock);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** On a database that is open already, and becomes the store's. */
export function createSqliteStore(database: Database, clock: Clock = systemClock): Store {
  migrate(database, clock.now);
  const segments = new Segments(database);
  const commit = createCommit(database, segments, clock);
  const listeners = new Set<(signals: readonly Signal[]) => void>();

  const settle = () => database.settle();
  const store: Omit<Store, 'blobs'> = {
    agents: createAgents(database),
    environments: createEnvironments(database),
    ...createSessions(database),
    works: createWorks(database, clock),
    keys: createKeys(database, clock),
    leases: createLeases(database, segments, clock),
    documents: createDocuments(database, clock),
    now: async () => {
      database.check();
      return clock.now();
    },

    commit: async (writes) => {
      const { outcomes, signals } = commit(writes);
      // Whoever is woken before would find it missing, and go and look for it.
      await database.settle();
      if (signals.length > 0) queueMicrotask(() => listeners.forEach((listener) => listener(signals)));
      return outcomes;
    },

    read: async (request) => segments.read(request),

    heads: async (sessionIds) => {
      const places = sessionIds.map((id) => [id, segments.place(id)?.head] as const);
      return new Map(places.filter((pair): pair is [string, number] => pair[1] !== undefined));
    },

    prune: async (sessionId, ranges) => database.transaction(() => segments.prune(sessionId, ranges)),

    subscribe: (onSignals) => {
      listeners.add(onSignals);
      return () => void listeners.delete(onSignals);
    },

    close: async () => {
      listeners.clear();
      try {
        await database.settle();
      } finally {
        database.close();
      }
    },
  };
  const blobs = createBlobs(explainFailures(createBlobParts(database), settle));
  return { ...explainFailures(store, settle), blobs };
}

type Settle = () => Promise<void> | undefined;

/**
 * What is not a refusal is a failure of the disk or the database. Outside of this folder nobody knows its errors. Nor does
 * anybody hear of what is not on the disk yet, also if somebody else has written it.
 */
function explainFailures<Part extends object>(part: Part, settle: Settle): Part {
  const explained = Object.entries(part).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null) return [name, explainFailures(value, settle)];
    if (typeof value !== 'function' || name === 'subscribe') return [name, value];
    return [name, async (...args: unknown[]) => explain(() => value(...args) as Promise<unknown>, settle)];
  });
  // The same names with functions of the same types.
  return Object.fromEntries(explained) as Part;
}

async function explain(run: () => Promise<unknown>, settle: Settle): Promise<unknown> {
  try {
    // One after the other: what it reads and writes is done when it has been called, and is what is to be on the disk.
    // What others write later is not waited for.
    const [answer] = await Promise.all([run(), settle()]);
    return answer;
  } catch (error) {
    // A mistake of ours stays what it is.
    if (error instanceof FleetloomError || !isDatabaseError(error)) throw error;
    throw storeError('store_failed', `the database failed (${error.message})`, error);
  }
}
