import type * as Pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { storeLimits } from '../limits.ts';
import { storeError } from '../store-errors.ts';
import { Connection, type Result } from './connection.ts';
import { ConnectionWaits } from './connection-waits.ts';
import { type DatabaseTls, toDatabaseConnection } from './database-tls.ts';
import { DatabaseFailure, toUnreachable } from './database-failure.ts';
import { pause, retry } from './retry.ts';
import { parserOf } from './values.ts';

/** Where the database is, and how many connections are used. */
export interface DatabaseOptions {
  readonly url: string;
  /** The URL for LISTEN. With a pooler in transaction mode it must bypass the pooler. */
  readonly listenUrl?: string;
  /** The schema of all tables. */
  readonly schema: string;
  /** Replaces the clock of the database in tests. */
  readonly clock?: Clock;
  readonly connectionsMax?: number;
  /** By default the certificate of a database on another machine is verified. */
  readonly tls?: DatabaseTls | undefined;
  /** How long to wait for an unreachable database. */
  readonly patienceMs?: number;
}

/**
 * The only file that knows the driver.
 *
 * In all SQL `~` stands for the schema and `@now` for the time of the database in milliseconds. Statements are not named and
 * transactions do not depend on settings of their connection, so that a pooler may assign any connection.
 */
export class Database {
  readonly schema: string;
  readonly patienceMs: number;
  readonly connections: ConnectionWaits;
  readonly #driver: typeof Pg;
  readonly #options: DatabaseOptions;
  readonly #pool: Pg.Pool;
  readonly #texts = new Map<string, string>();
  #closing: Promise<void> | undefined;

  private constructor(driver: typeof Pg, options: DatabaseOptions) {
    this.#driver = driver;
    this.#options = options;
    this.schema = options.schema;
    this.patienceMs = options.patienceMs ?? storeLimits.databasePatienceMs;
    const max = options.connectionsMax ?? storeLimits.databaseConnectionsMax;
    this.#pool = new driver.Pool({
      ...this.#settings(options.url),
      max,
      allowExitOnIdle: true,
    });
    this.connections = new ConnectionWaits(this.#pool, max);
    // An idle connection that breaks is not reported: the next query gets another one.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      // Without a listener it would end the process; the user of the connection gets the error from its query.
      client.on('error', () => {});
      client.query(SETTINGS).catch(() => {});
    });
  }

  static async open(options: DatabaseOptions, load: () => Promise<unknown> = () => import('pg')): Promise<Database> {
    if (!SCHEMA_NAME.test(options.schema)) {
      throw storeError('store_failed', `${options.schema} cannot be the name of a schema: use a-z, 0-9 and _`);
    }
    const database = new Database(await loadDriver(load), options);
    try {
      await database.#withPooled((connection) => connection.query('SELECT 1'));
      return database;
    } catch (error) {
      await database.close();
      const reason = error instanceof Error ? error.message : String(error);
      throw storeError('store_failed', `${toPlace(options.url)} cannot be used as a database (${reason})`, error);
    }
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Runs a query that only reads. It is repeated when the connection breaks, so that callers do not notice a restart of the database. */
  read<Row>(sql: string, values: readonly unknown[] = []): Promise<Result<Row>> {
    return this.#patiently(true, (connection) => connection.query<Row>(sql, values));
  }

  /** Runs one statement that writes. If the connection breaks in the meantime, the outcome is unknown. */
  write<Row>(sql: string, values: readonly unknown[] = []): Promise<Result<Row>> {
    return this.#patiently(false, (connection) => connection.query<Row>(sql, values));
  }

  /** Runs a transaction, and repeats it after a conflict. */
  transaction<Answer>(run: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    return this.#patiently(false, (connection) => connection.transaction(run));
  }

  /** A dedicated connection outside the pool. The caller ends it. */
  async connect(purpose: 'commit' | 'listen'): Promise<Connection> {
    this.#check();
    const { url, listenUrl = url } = this.#options;
    const client = new this.#driver.Client(this.#settings(purpose === 'listen' ? listenUrl : url));
    const connection = new Connection(client, this.#toText, {
      onFailure: (failure) => this.#note(failure),
      ending: { end: () => client.end(), destroy: () => streamOf(client).destroy() },
    });
    try {
      await client.connect();
      await connection.query(SETTINGS);
    } catch (error) {
      await connection.end();
      throw this.#note(toUnreachable(error));
    }
    if (!this.isClosed) return connection;
    await connection.end();
    throw closed();
  }

  /** Waits for queries in progress. */
  close(): Promise<void> {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  #patiently<Answer>(isRepeatable: boolean, run: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    const isWorthIt = (error: unknown) =>
      error instanceof DatabaseFailure && !this.isClosed && (error.isUnreachable || (error.isLost && isRepeatable));
    return retry(() => this.#withoutConflict(run), isWorthIt, this.patienceMs);
  }

  async #withoutConflict<Answer>(run: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    for (let conflicts = 1; ; conflicts++) {
      try {
        return await this.#withPooled(run);
      } catch (error) {
        const isConflict = error instanceof DatabaseFailure && error.isConflict;
        if (!isConflict || conflicts > storeLimits.databaseConflictsMax) throw error;
      }
      await pause(storeLimits.databaseRetryMs);
    }
  }

  async #withPooled<Answer>(run: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    this.#check();
    let client: Pg.PoolClient;
    try {
      client = await this.connections.waitFor(() => this.#pool.connect());
    } catch (error) {
      if (this.isClosed) throw closed();
      throw this.#note(toUnreachable(error));
    }
    const connection = new Connection(client, this.#toText, { onFailure: (failure) => this.#note(failure) });
    try {
      return await run(connection);
    } finally {
      // A rejected statement does not affect the connection.
      client.release(connection.isLost || connection.isInTransaction);
    }
  }

  readonly #toText = (sql: string): string => {
    const known = this.#texts.get(sql);
    if (known !== undefined) return known;
    const { schema, clock } = this.#options;
    const qualified = sql.replaceAll('~', `${schema}.`);
    // Not cached: the time of a test clock changes the text each time.
    if (clock !== undefined && sql.includes('@now')) return qualified.replaceAll('@now', String(clock.now()));
    const text = qualified.replaceAll('@now', NOW);
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear();
    this.#texts.set(sql, text);
    return text;
  };

  #note(failure: DatabaseFailure): DatabaseFailure {
    this.connections.noteFailure(failure);
    return failure;
  }

  #settings(url: string): Pg.ClientConfig {
    return {
      ...toDatabaseConnection(url, this.#options.tls),
      application_name: 'fleetloom',
      connectionTimeoutMillis: storeLimits.databaseConnectMs,
      // The server ends statements that take too long. This is for a server that does not respond at all.
      query_timeout: storeLimits.databaseStatementMs + storeLimits.databaseConnectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: storeLimits.databaseListenCheckMs,
      // Queries are sent without waiting for earlier responses. Older drivers wait; nothing else differs.
      pipeline: true,
      types: { getTypeParser: parserOf },
    };
  }

  #check(): void {
    if (this.isClosed) throw closed();
  }
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;

/** Texts are few: one per query and combination of filters. The bound is for unforeseen callers. */
const TEXTS_MAX = 500;

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::int8';

/** Not parameters of the connection, which poolers reject. */
const SETTINGS = `SET statement_timeout = ${storeLimits.databaseStatementMs}; SET lock_timeout = ${storeLimits.databaseLockMs};
  SET idle_in_transaction_session_timeout = ${storeLimits.databaseIdleMs}`;

/** Imported on first use: users of SQLite do not have the package. */
async function loadDriver(load: () => Promise<unknown>): Promise<typeof Pg> {
  try {
    const loaded = (await load()) as typeof Pg & { readonly default?: typeof Pg };
    // Newer versions are ES modules, older ones the default export of one.
    return loaded.default ?? loaded;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw storeError('driver_missing', 'a database postgres://… needs the package pg, which is not installed', error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/** The driver has no public method for this, but its own pool does the same. */
function streamOf(client: Pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}

/** The URL without its password. */
function toPlace(url: string): string {
  if (!URL.canParse(url)) return 'the address that was given';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function closed(): Error {
  return storeError('closed', 'the store is closed');
}
