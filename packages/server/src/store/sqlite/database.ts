import type { DatabaseSync } from '@photostructure/sqlite';
import { FleetloomError } from '../../base/errors.ts';
import { makePrivateFile } from '../../base/files/private-files.ts';
import { storeError } from '../store-errors.ts';
import { PageScrubber } from './page-scrubber.ts';
import { WalSync } from './wal-sync.ts';

/**
 * The only file that knows the driver: Node's own from 22 on, and the package with the same interface before.
 *
 * Every statement holds on to this object, and this object to the driver's handle. That is not tidiness: the package
 * frees an unreferenced database, and the next use of one of its statements is a segmentation fault.
 */
export class Database {
  readonly path: string;
  /** Undefined for a database in memory. */
  readonly scrubber: PageScrubber | undefined;
  readonly #handle: Handle;
  readonly #statements = new Map<string, Statement>();
  /** Undefined without a write-ahead log: in memory, and on file systems that do not support it. */
  readonly #wal: WalSync | undefined;
  #isOpen = true;

  private constructor(path: string, handle: Handle, wal: WalSync | undefined) {
    this.path = path;
    this.scrubber = path === MEMORY ? undefined : new PageScrubber(path);
    this.#handle = handle;
    this.#wal = wal;
  }

  /** Opens or creates the file, and locks it against other processes. */
  static async open(path: string, sync?: (file: number) => Promise<void>): Promise<Database> {
    const { DatabaseSync } = await loadDriver();
    // SQLite gives the files beside the database the same mode.
    if (path !== MEMORY) await makePrivateFile(path).catch((error: unknown) => rethrow(path, error));
    const handle = openHandle(DatabaseSync, path);
    try {
      for (const pragma of PRAGMAS) handle.exec(pragma);
      // In this mode the lock is taken by the first transaction and kept until the end of the process, however it ends.
      handle.exec('BEGIN EXCLUSIVE; COMMIT');
      // The write-ahead log of a killed process may contain content that was deleted since.
      handle.exec(EMPTY_LOG);
      return new Database(path, handle, openWal(path, handle, sync));
    } catch (error) {
      handle.close();
      throw isBusy(error)
        ? storeError('store_locked', `another process has ${path} open`, error)
        : cannotOpen(path, error);
    }
  }

  exec(sql: string): void {
    this.check();
    this.#handle.exec(sql);
    this.#wal?.note();
  }

  /** Moves the write-ahead log into the file, so that it contains nothing that was deleted. */
  emptyLog(): void {
    this.exec(EMPTY_LOG);
  }

  /** Frees the copies of pages that are in memory: the next use of a page reads it from the file. */
  forgetPages(): void {
    this.exec('PRAGMA shrink_memory');
  }

  /**
   * Resolves when everything written is on disk; undefined if it is. Nothing may be reported earlier, neither that it
   * was written nor what was read: it could be lost in a power failure.
   */
  settle(): Promise<void> | undefined {
    // Closing has brought everything into the file.
    return this.#isOpen ? this.#wal?.settle() : undefined;
  }

  /** Prepares a statement. Statements are cached by their text. */
  prepare<Row = unknown>(sql: string): Statement<Row> {
    this.check();
    const known = this.#statements.get(sql);
    // The cast: the SQL determines the columns.
    if (known !== undefined) return known as Statement<Row>;
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    const statement = this.#toStatement<Row>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs a transaction: all of it is committed, or nothing. */
  transaction<Result>(run: () => Result): Result {
    this.check();
    this.#handle.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.#handle.exec('COMMIT');
      this.#wal?.note();
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Runs a part of a transaction that can be rolled back on its own. */
  savepoint<Result>(run: () => Result): Result {
    this.#handle.exec('SAVEPOINT part');
    try {
      const result = run();
      this.#handle.exec('RELEASE part');
      return result;
    } catch (error) {
      this.#rollBack('ROLLBACK TO part; RELEASE part');
      throw error;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#statements.clear();
    this.#wal?.close();
    try {
      for (const pragma of PRAGMAS_AT_END) this.#handle.exec(pragma);
    } finally {
      this.#handle.close();
      this.scrubber?.close();
    }
  }

  #toStatement<Row>(sql: string): Statement<Row> {
    const prepared = this.#handle.prepare(sql);
    // Each statement checks whether this object is open; the reference also keeps the object, and so the handle, alive.
    const open = () => {
      this.check();
      return prepared;
    };
    return {
      get: (...values) => open().get(...toValues(values)) as Row | undefined,
      all: (...values) => open().all(...toValues(values)) as Row[],
      iterate: (...values) => readEach(open().iterate(...toValues(values)) as IterableIterator<Row>),
      run: (...values) => {
        const { changes } = open().run(...toValues(values));
        this.#wal?.note();
        return changes;
      },
    };
  }

  /** Throws if the database is closed, or if a sync has failed. */
  check(): void {
    if (!this.#isOpen) throw storeError('closed', 'the store is closed');
    this.#wal?.check();
  }

  #rollBack(sql = 'ROLLBACK'): void {
    try {
      this.#handle.exec(sql);
    } catch {
      // A full disk ends the transaction, with its savepoints: then there is nothing to roll back, and the first error is the cause.
    }
  }
}

/**
 * Ends the statement if a row cannot be read. Otherwise it would keep its transaction open: the write-ahead log could
 * not be emptied, and the database not be closed.
 */
function readEach<Row>(rows: IterableIterator<Row>): IterableIterator<Row> {
  const each: IterableIterator<Row> = {
    next: () => {
      try {
        return rows.next();
      } catch (error) {
        rows.return?.();
        throw error;
      }
    },
    return: (value?: unknown) => rows.return?.(value) ?? { done: true, value },
    [Symbol.iterator]: () => each,
  };
  return each;
}

/** Whether SQLite threw the error. */
export function isDatabaseError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/** A prepared statement. */
export interface Statement<Row = unknown> {
  get(...values: readonly unknown[]): Row | undefined;
  all(...values: readonly unknown[]): Row[];
  /** Reads rows lazily. The iterator must be finished or returned before the database is used again. */
  iterate(...values: readonly unknown[]): IterableIterator<Row>;
  /** The number of rows that changed. */
  run(...values: readonly unknown[]): number;
}

type Handle = InstanceType<typeof DatabaseSync>;
type Value = Parameters<ReturnType<Handle['prepare']>['run']>[number];

/** Texts are few: one per query and combination of filters. The bound is for unforeseen callers. */
const STATEMENTS_MAX = 500;

const MEMORY = ':memory:';

const PRAGMAS = [
  'PRAGMA locking_mode = EXCLUSIVE',
  'PRAGMA journal_mode = WAL',
  // Acknowledged commits survive a power failure, not only a killed process.
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  // Pages of 4 KiB. More make the stall of a checkpoint longer, fewer make more of them.
  'PRAGMA wal_autocheckpoint = 1000',
  'PRAGMA journal_size_limit = 67108864',
  // Deleted content is overwritten. erasures.ts does the rest.
  'PRAGMA secure_delete = ON',
];

const EMPTY_LOG = 'PRAGMA wal_checkpoint(TRUNCATE)';

/** With a write-ahead log, the server syncs it after each commit, so that other work does not wait for the disk. */
function openWal(path: string, handle: Handle, sync?: (file: number) => Promise<void>): WalSync | undefined {
  const { journal_mode: mode } = handle.prepare('PRAGMA journal_mode').get() as { readonly journal_mode: string };
  if (mode !== 'wal') return undefined;
  handle.exec('PRAGMA synchronous = NORMAL');
  return new WalSync(`${path}-wal`, sync);
}

/**
 * The package closes a database only when the last of its statements is collected, and would keep the lock until then.
 * So the lock is released first, which is possible only outside of WAL mode. This also leaves a single file.
 */
const PRAGMAS_AT_END = ['PRAGMA journal_mode = DELETE', 'PRAGMA locking_mode = NORMAL', 'SELECT 1 FROM sqlite_schema'];

async function loadDriver(): Promise<{ DatabaseSync: typeof DatabaseSync }> {
  // Not an import: bundlers and Node 20 do not have this module. The package promises the same types.
  const builtIn = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: typeof DatabaseSync } | undefined;
  return builtIn ?? (await import('@photostructure/sqlite'));
}

function openHandle(Driver: typeof DatabaseSync, path: string): Handle {
  try {
    return new Driver(path);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

function rethrow(path: string, error: unknown): never {
  throw error instanceof FleetloomError ? error : cannotOpen(path, error);
}

function cannotOpen(path: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return storeError('store_failed', `${path} cannot be opened as a database (${reason})`, cause);
}

function isBusy(error: unknown): boolean {
  return isDatabaseError(error) && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

function toValues(values: readonly unknown[]): Value[] {
  // Queries are ours, and give numbers, texts, bytes and nulls.
  return values as Value[];
}
