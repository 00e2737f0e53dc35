import { ignoringFailure } from '../../base/in-background.ts';
import { randomUUID } from 'node:crypto';
import { storeLimits } from '../limits.ts';
import { runWrites } from '../run-writes.ts';
import type { Signal } from '../store.ts';
import { storeError } from '../store-errors.ts';
import type { Outcome, Write } from '../write.ts';
import { type AppendedRow, inOrder, toAppend, TOKEN_LOST } from './commit/append.ts';
import { fencesOf, finishAppends, type Refusal, toAppends } from './commit/appends-only.ts';
import { loadImage } from './commit/load-image.ts';
import { type Texts, toLoaded, toStatements, toTexts } from './commit/save-image.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { Months } from './months.ts';
import { pause } from './retry.ts';

/** The outcomes of a successful commit. */
export interface Committed {
  readonly outcomes: readonly Outcome[];
  readonly signals: readonly Signal[];
}

export interface WriterOptions {
  readonly database: Database;
  readonly months: Months;
  /** The name of this process, unique among all processes, earlier ones included. */
  readonly node: string;
  /** Called with sessions whose logs consist of many small rows. */
  readonly onScattered: (sessionIds: readonly string[]) => void;
}

/**
 * Commits writes, one commit at a time, on a connection of its own.
 *
 * Each leaves a token in the row of this process, and goes through only on the token before it. So when the connection
 * breaks, a new one finds out by the token what became of the last commit, and by replacing it makes sure that nothing
 * comes of it any more, even if the database has yet to read it.
 */
export class Writer {
  readonly #options: WriterOptions;
  #connection: Connection | undefined;
  #token = '';
  #last: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  commit(writes: readonly Write[]): Promise<Committed> {
    if (writes.length === 0) return Promise.resolve({ outcomes: [], signals: [] });
    const texts = toTexts(writes);
    const committed = this.#last.then(() => this.#commit(writes, texts));
    this.#last = committed.catch(() => {});
    return committed;
  }

  /** Waits for the commit in progress. Fails if the database is unavailable, because the wait would not end. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#last;
    await this.#connection?.end();
  }

  async #commit(writes: readonly Write[], texts: Texts): Promise<Committed> {
    const until = performance.now() + this.#options.database.patienceMs;
    let conflicts = 0;
    /** The attempt whose outcome is unknown. */
    let doubt: Attempt | undefined;
    let failure: DatabaseFailure | undefined;
    while (true) {
      const connection = await this.#reach(doubt, until);
      if (connection === undefined) return doubt!.finish();
      // Nothing was written for certain.
      if (failure !== undefined && performance.now() >= until) throw failure;
      const attempt: Attempt = { token: randomUUID(), isSent: false, isDone: false, finish: unfinished };
      try {
        return await this.#try(connection, writes, texts, attempt);
      } catch (error) {
        if (!(error instanceof DatabaseFailure)) throw error;
        failure = error;
        const isAway = error.isLost || error.isUnreachable;
        // An attempt that the server rejected, or never received, is not in doubt.
        doubt = isAway && attempt.isSent ? attempt : undefined;
        if (!isAway && (!error.isConflict || ++conflicts > storeLimits.databaseConflictsMax)) throw error;
      }
      await pause(storeLimits.databaseRetryMs);
    }
  }

  /**
   * Returns a connection, or undefined if the attempt in doubt turns out to be committed. A caller whose commit may have been applied waits
   * until that is known, even longer than the patience.
   */
  async #reach(doubt: Attempt | undefined, until: number): Promise<Connection | undefined> {
    for (
      let delayMs: number = storeLimits.databaseRetryMs;
      ;
      delayMs = Math.min(2 * delayMs, storeLimits.databaseRetryMsMax)
    ) {
      try {
        const connection = await this.#connect(doubt);
        return doubt?.isDone === true ? undefined : connection;
      } catch (error) {
        if (doubt?.isDone === true) return undefined;
        if (doubt !== undefined && this.#isClosing) throw neverKnown(error);
        const isWorthIt = error instanceof DatabaseFailure && (error.isLost || error.isUnreachable || error.isConflict);
        const isOver = this.#isClosing || performance.now() >= until;
        if (doubt === undefined && (!isWorthIt || isOver)) throw error;
      }
      await pause(delayMs);
    }
  }

  /** The present connection, or a new one after it has determined the outcome of the attempt in doubt. */
  async #connect(doubt: Attempt | undefined): Promise<Connection> {
    if (this.#connection?.isLost === false) return this.#connection;
    const { database, node } = this.#options;
    const connection = await database.connect('commit');
    const token = randomUUID();
    try {
      await connection.transaction(async () => {
        await connection.query(REGISTER, [node, token]);
        // Waits for a commit that is still in progress in the database.
        const { rows } = await connection.query<CommitRow>(FIND, [node]);
        if (doubt !== undefined && rows[0]?.token === doubt.token) {
          const { heads } = rows[0];
          const { finish } = doubt;
          doubt.isDone = true;
          doubt.finish = () => finish(heads ?? undefined);
        }
        await connection.query(REPLACE, [node, token]);
      });
    } catch (error) {
      await connection.end();
      throw error;
    }
    this.#token = token;
    this.#connection = connection;
    return connection;
  }

  #try(connection: Connection, writes: readonly Write[], texts: Texts, attempt: Attempt): Promise<Committed> {
    const appends = toAppends(writes);
    return appends === undefined
      ? this.#commitRecords(connection, writes, texts, attempt)
      : this.#commitAppends(connection, writes, appends, attempt);
  }

  /** Commits deltas, as most commits are: one statement and one round trip. */
  async #commitAppends(
    connection: Connection,
    writes: readonly Write[],
    appends: NonNullable<ReturnType<typeof toAppends>>,
    attempt: Attempt,
  ): Promise<Committed> {
    const { database, node } = this.#options;
    attempt.finish = async (heads = []) => {
      const refused = appends.filter((_, index) => heads[index] === null).map(({ sessionId }) => sessionId);
      return finishAppends(writes, appends, heads, await fencesOf(database, refused));
    };
    attempt.isSent = true;
    const { sql, values } = toAppend(appends, { node, before: this.#token, token: attempt.token });
    const { rows } = await connection.query<AppendedRow>(sql, values).catch((error: unknown) => {
      const isTokenLost = error instanceof DatabaseFailure && error.code === TOKEN_LOST;
      throw isTokenLost ? this.#loseToken(connection) : error;
    });
    this.#token = attempt.token;
    this.#options.onScattered(findScattered(appends, rows));
    const fences = rows.map(({ fence }, index): Refusal => [appends[index]!.sessionId, fence]);
    const heads = rows.map(({ head }) => head);
    return finishAppends(writes, appends, heads, new Map(fences));
  }

  /** Commits records: one round trip to lock and read, another one to write. */
  async #commitRecords(
    connection: Connection,
    writes: readonly Write[],
    texts: Texts,
    attempt: Attempt,
  ): Promise<Committed> {
    const { months, node } = this.#options;
    const firstKey = writes.some(({ type }) => type === 'create') ? await months.firstKey(Date.now()) : undefined;
    try {
      const [, guard, image] = await Promise.all([
        connection.begin(),
        connection.query(GUARD, [node, this.#token, attempt.token]),
        loadImage(connection, writes, firstKey),
      ]);
      if (guard.count === 0) throw this.#loseToken(connection);
      const loaded = toLoaded(image);
      const committed = runWrites(writes, (write) => image.run(write));
      attempt.finish = async () => committed;
      attempt.isSent = true;
      const results = await connection.commit(toStatements(loaded, image, texts));
      this.#token = attempt.token;
      const written = image.sessions.values().filter(({ frames }) => frames.length > 0);
      const appends = written.map(({ id }) => ({ sessionId: id })).sort(inOrder);
      // Frames are written by the last statement, if there are any.
      if (written.length > 0) this.#options.onScattered(findScattered(appends, results.at(-1)!.rows as AppendedRow[]));
      return committed;
    } catch (error) {
      await connection.rollBack();
      throw error;
    }
  }

  /** The row of this process has changed, because it was swept after a long idle time. A new connection creates it again. */
  #loseToken(connection: Connection): DatabaseFailure {
    ignoringFailure(connection.end());
    return new DatabaseFailure(new Error('the row of this process is gone'), 'lost');
  }
}

interface Attempt {
  readonly token: string;
  /** From then on the attempt may have been committed. */
  isSent: boolean;
  /** The attempt is known to be committed. */
  isDone: boolean;
  /** Computes the outcomes from the heads that the database has stored. */
  finish: (heads?: readonly (number | null)[]) => Promise<Committed>;
}

function neverKnown(cause: unknown): Error {
  return storeError('store_failed', 'the store was closed before it was known what became of a commit', cause);
}

async function unfinished(): Promise<never> {
  throw new Error('nothing was sent yet that could have been committed');
}

interface CommitRow {
  readonly token: string;
  readonly heads: readonly (number | null)[] | null;
}

function findScattered(appends: readonly { sessionId: string }[], rows: readonly AppendedRow[]): string[] {
  const isScattered = (index: number) => (rows[index]?.tail_rows ?? 0) >= storeLimits.segmentTailRowsMax;
  return appends.filter((_, index) => isScattered(index)).map(({ sessionId }) => sessionId);
}

const REGISTER = 'INSERT INTO ~commits (node, token, used_at) VALUES ($1, $2, @now) ON CONFLICT (node) DO NOTHING';
const FIND = 'SELECT token, heads FROM ~commits WHERE node = $1 FOR UPDATE';
const REPLACE = 'UPDATE ~commits SET token = $2, heads = NULL, used_at = @now WHERE node = $1';
const GUARD = 'UPDATE ~commits SET token = $3, heads = NULL, used_at = @now WHERE node = $1 AND token = $2';
