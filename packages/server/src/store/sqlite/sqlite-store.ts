import { type Clock, systemClock } from '../../base/clock.ts';
import { FleetloomError } from '../../base/errors.ts';
import { isStorageFull } from '../../base/resource-error.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { found } from '../guards.ts';
import type { Signal, Store } from '../store.ts';
import type { Write } from '../write.ts';
import { storeError } from '../store-errors.ts';
import { createBlobs } from '../blobs.ts';
import { createAuditLog } from './audit-log.ts';
import { createAgents } from './records/agents.ts';
import { createBlobParts } from './blob-parts.ts';
import { createCheckpoints, dropCheckpoints } from './checkpoints.ts';
import { createCommit } from './commit.ts';
import { Database, isDatabaseError } from './database.ts';
import { createDocuments } from './records/documents.ts';
import { createEnvironments } from './records/environments.ts';
import { eraseEarlier } from './erase-earlier.ts';
import { Erasures } from './erasures.ts';
import { createKeys } from './records/keys.ts';
import { createLeases } from './leases.ts';
import { migrate } from './migrate.ts';
import { RunIndex } from './run-index.ts';
import { Segments } from './segments.ts';
import { createSessions } from './records/sessions.ts';
import { createSummaries } from './records/summaries.ts';
import { isLong, StagedSessions } from './staged-sessions.ts';
import { createWorks } from './records/works.ts';

/**
 * The default store: one file, in one process.
 *
 * @example
 * const store = await openSqliteStore({ path: 'fleetloom.db' });
 */
export async function openSqliteStore({ path, clock, onProblem }: SqliteStoreOptions): Promise<Store> {
  const database = await Database.open(path);
  try {
    return createSqliteStore(database, clock, onProblem);
  } catch (error) {
    database.close();
    throw error;
  }
}

export interface SqliteStoreOptions {
  readonly path: string;
  readonly clock?: Clock;
  /** Receives failures of work that no caller waits for. Default: a warning of the process. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

/** Creates the store on an open database, and takes ownership of it. */
export function createSqliteStore(
  database: Database,
  clock: Clock = systemClock,
  onProblem: (problem: unknown) => void = (problem) => process.emitWarning(String(problem)),
): Store {
  const isNew = isEmpty(database);
  migrate(database, clock.now);
  eraseEarlier(database, { isNew, onProblem });
  const segments = new Segments(database);
  const erasures = new Erasures(database, onProblem, () => segments.forgetKinds());
  const runs = new RunIndex(database, segments);
  const staged = new StagedSessions(database, segments);
  const { log: audit, append } = createAuditLog(database, clock);
  const commit = createCommit(database, { segments, runs, erasures, append }, clock);
  const listeners = new Set<(signals: readonly Signal[]) => void>();

  let closing: Promise<void> | undefined;
  const settle = () => database.settle();
  const store: Omit<Store, 'blobs'> = {
    agents: createAgents(database, append),
    environments: createEnvironments(database, append),
    ...createSessions(database),
    works: createWorks(database, clock),
    keys: createKeys(database, clock),
    leases: createLeases(database, segments, clock),
    documents: createDocuments(database, append, clock),
    audit,
    runs: { findAt: runs.findAt, findSince: runs.findSince, get: runs.get, list: runs.list },
    summaries: createSummaries(database),
    checkpoints: createCheckpoints(database, segments),
    now: async () => {
      database.check();
      return clock.now();
    },

    commit: async (writes) => {
      // Other commits must not await anything before they are written: `explain` relies on it.
      const { outcomes, signals } = writes.some(isLong) ? await commitLong(writes) : commit(writes);
      // A reader that is woken earlier would not find the write, and would poll.
      await database.settle();
      if (signals.length > 0) queueMicrotask(() => listeners.forEach((listener) => listener(signals)));
      if (signals.some(({ type }) => type === 'deleted')) erasures.wake();
      return outcomes;
    },

    read: async (request) => segments.read(request),

    logBytes: async (sessionId, after) => segments.logBytes(sessionId, after),

    heads: async (sessionIds) => {
      const heads = new Map<string, number>();
      for (const id of sessionIds) {
        const head = segments.place(id)?.head;
        if (head !== undefined) heads.set(id, head);
        await yieldToEventLoop();
      }
      return heads;
    },

    prune: async (sessionId, ranges) => {
      const [first] = ranges;
      found(segments.place(sessionId), sessionId);
      if (first === undefined) return;
      // Before, so that no fold begins at an outdated checkpoint, and after, for folds that began in the meantime.
      drop(sessionId, first.firstSeq);
      for (let from: number | undefined = first.firstSeq; from !== undefined; await yieldToEventLoop()) {
        const at: number = from;
        from = database.transaction(() => segments.prune(sessionId, at, ranges));
      }
      drop(sessionId, first.firstSeq);
    },

    subscribe: (onSignals) => {
      listeners.add(onSignals);
      return () => void listeners.delete(onSignals);
    },

    close: () => (closing ??= close()),
  };
  // Continues with sessions that were deleted before a crash.
  erasures.wake();
  const blobs = createBlobs(explainFailures(createBlobParts(database), settle));
  return { ...explainFailures(store, settle), blobs };

  async function commitLong(writes: readonly Write[]) {
    const keys = await staged.stageAll(writes);
    try {
      return commit(writes, keys);
    } finally {
      // Sessions that have their own id by now are kept.
      for (const key of keys.values()) staged.drop(key);
      erasures.wake();
    }
  }

  /** Looks the key up each time: the session may have been deleted, and its key reused. */
  function drop(sessionId: string, from: number): void {
    const key = segments.place(sessionId)?.key;
    if (key !== undefined) database.transaction(() => dropCheckpoints(database, key, from));
  }

  async function close(): Promise<void> {
    listeners.clear();
    try {
      await database.settle();
      await erasures.finish();
    } catch (error) {
      reportIfFull(error);
    } finally {
      erasures.stop();
      closeDatabase();
    }
  }

  function closeDatabase(): void {
    try {
      database.close();
    } catch (error) {
      reportIfFull(error);
    }
  }

  /** On a full disk a close loses nothing: what was committed is in the log on the disk, and the next start continues. */
  function reportIfFull(error: unknown): void {
    if (!isStorageFull(error)) throw error;
    onProblem(
      storeError('store_failed', 'the disk is full, so the database was closed without its final steps', error),
    );
  }
}

function isEmpty(database: Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

type Settle = () => Promise<void> | undefined;

/**
 * Converts failures of the disk and the database; rejections are passed on unchanged. Nor is
 * a write reported that is not on disk yet, even if another caller wrote it.
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
    // `run` reads and writes synchronously, so `settle` covers exactly its writes.
    // Later writes of other callers are not waited for.
    const [answer] = await Promise.all([run(), settle()]);
    return answer;
  } catch (error) {
    // Programming errors are passed on unchanged.
    if (error instanceof FleetloomError || !isDatabaseError(error)) throw error;
    throw storeError('store_failed', `the database failed (${error.message})`, error);
  }
}
