import { randomUUID } from 'node:crypto';
import { storeLimits } from '../limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import { createBlobs } from '../blobs.ts';
import type { Signal, Store } from '../store.ts';
import { storeError } from '../store-errors.ts';
import { createAuditLog } from './audit/audit-log.ts';
import { createAgents } from './records/agents.ts';
import { createBlobParts } from './blob-parts.ts';
import { createBuild } from './build.ts';
import { createCheckpoints } from './checkpoints.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { DatabaseFailure } from './database-failure.ts';
import { createDocuments } from './records/documents.ts';
import { createEnvironments } from './records/environments.ts';
import { createKeys } from './records/keys.ts';
import { createLeases } from './leases.ts';
import { Listener } from './listener.ts';
import { migrate } from './migrate.ts';
import { Months } from './months.ts';
import { Notifier } from './notifier.ts';
import { createRuns } from './runs.ts';
import { Segments } from './segments.ts';
import { createSessions } from './records/sessions.ts';
import { createSummaries } from './records/summaries.ts';
import { sweep } from './sweep.ts';
import { RowMerger } from './row-merger.ts';
import { createWorks } from './records/works.ts';
import { Writer } from './writer.ts';

export interface PostgresOptions extends Omit<DatabaseOptions, 'schema'> {
  /** The schema of all tables; default `fleetloom`. */
  readonly schema?: string;
  readonly schedule?: Schedule;
  /** Whether to fail if notifications of the database do not arrive here. */
  readonly checksSignals?: boolean;
}

/**
 * The store that any number of processes share. With a pooler in transaction mode, `listenUrl` must bypass the pooler.
 *
 * @example
 * const store = await openPostgresStore({ url: 'postgres://fleetloom@db.example/fleetloom' });
 */
export async function openPostgresStore({ schema = 'fleetloom', ...options }: PostgresOptions): Promise<Store> {
  const database = await Database.open({ schema, ...options });
  try {
    await migrate(database);
    return await createPostgresStore(database, options);
  } catch (error) {
    await database.close();
    throw toStoreError(error);
  }
}

/** Creates the store on an open database, and takes ownership of it. */
export async function createPostgresStore(
  database: Database,
  { schedule = systemSchedule, checksSignals = false }: Pick<PostgresOptions, 'schedule' | 'checksSignals'> = {},
): Promise<Store> {
  const node = randomUUID();
  const build = createBuild(database.schema);
  const segments = new Segments(database);
  const months = new Months(database);
  const rowMerger = new RowMerger(segments);
  const writer = new Writer({ database, months, node, onScattered: (sessionIds) => rowMerger.note(sessionIds) });
  const notifier = new Notifier(database, node);
  const listeners = new Set<(signals: readonly Signal[]) => void>();
  const emit = (signals: readonly Signal[]) => listeners.forEach((listener) => listener(signals));
  const listener = new Listener({ database, node, onSignals: emit, schedule });
  await listener.start();
  if (checksSignals) {
    await listener.checkArrival().catch(async (error: unknown) => {
      await listener.close();
      throw error;
    });
  }
  let cancelSweep: Cancel = () => {};
  let sweeping: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  sweepLater(0);

  const store: Omit<Store, 'blobs' | 'close'> = {
    agents: createAgents(database, build),
    environments: createEnvironments(database, build),
    ...createSessions(database, build),
    works: createWorks(database, build),
    keys: createKeys(database),
    leases: createLeases(database, node),
    documents: createDocuments(database, build),
    audit: createAuditLog(database),
    runs: createRuns(database, segments),
    summaries: createSummaries(database, build),
    checkpoints: createCheckpoints(database),
    now: async () => (await database.read<{ now: number }>('SELECT @now AS now')).rows[0]!.now,

    commit: async (writes) => {
      const { outcomes, signals } = await writer.commit(writes);
      if (signals.length > 0) {
        // Subscribers in this process do not wait for the round trip of the notification.
        queueMicrotask(() => emit(signals));
        notifier.push(signals);
      }
      return outcomes;
    },

    read: (request) => segments.read(request),
    logBytes: (sessionId, after) => segments.logBytes(sessionId, after),
    heads: (sessionIds) => segments.heads(sessionIds),
    prune: (sessionId, ranges) => segments.prune(sessionId, ranges),
    subscribe: (onSignals) => {
      listeners.add(onSignals);
      return () => void listeners.delete(onSignals);
    },
  };
  const isClosed = () => closing !== undefined;
  const blobs = createBlobs(explainFailures(createBlobParts(database), isClosed));
  const { connections } = database;
  return { ...explainFailures(store, isClosed), blobs, connections, close: () => (closing ??= close()) };

  async function close(): Promise<void> {
    listeners.clear();
    cancelSweep();
    await writer.close();
    await Promise.all([notifier.close(), listener.close(), rowMerger.close(), sweeping]);
    await database.close();
  }

  function sweepLater(delayMs: number): void {
    cancelSweep = schedule(() => {
      // Failed removals are repeated later; an unreachable database is reported elsewhere.
      sweeping = sweep(database, months).catch(() => {});
      if (!isClosed()) sweepLater(storeLimits.databaseSweepMs);
    }, delayMs);
  }
}

/** Wraps every function of the store and its parts: rejects calls after close, and converts database errors. */
function explainFailures<Part extends object>(part: Part, isClosed: () => boolean): Part {
  const explained = Object.entries(part).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null) return [name, explainFailures(value, isClosed)];
    if (typeof value !== 'function' || name === 'subscribe') return [name, value];
    return [name, async (...args: unknown[]) => explain(() => value(...args) as Promise<unknown>, isClosed)];
  });
  // The same names with functions of the same types.
  return Object.fromEntries(explained) as Part;
}

async function explain(run: () => Promise<unknown>, isClosed: () => boolean): Promise<unknown> {
  if (isClosed()) throw storeError('closed', 'the store is closed');
  try {
    return await run();
  } catch (error) {
    throw toStoreError(error);
  }
}

/** Converts failures of the database. Rejections and programming errors are passed on unchanged. */
function toStoreError(error: unknown): unknown {
  if (!(error instanceof DatabaseFailure)) return error;
  return storeError('store_failed', `the database failed (${error.message})`, error);
}
