import { DatabaseFailure, toFailure } from './database-failure.ts';
import { toValue } from './values.ts';

export interface Result<Row> {
  readonly rows: Row[];
  /** Rows that were found or changed. */
  readonly count: number;
}

/** SQL with its parameters. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/** The part of the driver's connections that is used. */
export interface Client {
  query(sql: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null; command: string }>;
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

/** How a dedicated connection is ended: after all responses, or at once. */
export interface Ending {
  end(): Promise<void>;
  destroy(): void;
}

interface ConnectionOptions {
  readonly ending?: Ending;
  /** Called with each failure, so that it can be counted. */
  readonly onFailure?: (failure: DatabaseFailure) => void;
}

/** One connection. Its errors are `DatabaseFailure`s. */
export class Connection {
  readonly #client: Client;
  readonly #toText: (sql: string) => string;
  readonly #ending: Ending | undefined;
  readonly #onFailure: ((failure: DatabaseFailure) => void) | undefined;
  #isLost = false;
  #isInTransaction = false;

  /** With `ending` the connection is not pooled: a break is noticed also while it is idle. */
  constructor(client: Client, toText: (sql: string) => string, { ending, onFailure }: ConnectionOptions = {}) {
    this.#client = client;
    this.#toText = toText;
    this.#ending = ending;
    this.#onFailure = onFailure;
    if (ending === undefined) return;
    const lose = () => {
      this.#isLost = true;
    };
    client.on('error', lose);
    client.on('end', lose);
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** True after a transaction whose end the server has not confirmed. */
  get isInTransaction(): boolean {
    return this.#isInTransaction;
  }

  async query<Row>(sql: string, values: readonly unknown[] = []): Promise<Result<Row>> {
    try {
      const { rows, rowCount } = await this.#send(sql, values);
      // The cast: the SQL determines the columns.
      return { rows: rows as Row[], count: rowCount ?? 0 };
    } catch (error) {
      throw this.#note(error);
    }
  }

  /** Sends all statements before the first response. The first failure is reported; the others follow from it. */
  async queries(statements: readonly Statement[]): Promise<Result<unknown>[]> {
    const answers = await Promise.allSettled(statements.map(({ sql, values }) => this.query(sql, values)));
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  }

  async transaction<Answer>(run: (connection: this) => Promise<Answer>): Promise<Answer> {
    try {
      const [, answer] = await Promise.all([this.begin(), run(this)]);
      await this.commit();
      return answer;
    } catch (error) {
      await this.rollBack();
      throw error;
    }
  }

  /** Begins a transaction. The next statements may be sent without waiting. */
  async begin(): Promise<void> {
    this.#isInTransaction = true;
    await this.query('BEGIN');
  }

  /** Commits, together with the last statements of the transaction. If one of them fails nothing is committed. */
  async commit(statements: readonly Statement[] = []): Promise<Result<unknown>[]> {
    const [done, ended] = await Promise.allSettled([this.queries(statements), this.#end('COMMIT')]);
    if (done.status === 'rejected') throw done.reason;
    if (ended.status === 'rejected') throw ended.reason;
    return done.value;
  }

  /** Does nothing if the transaction has ended. */
  async rollBack(): Promise<void> {
    if (!this.#isInTransaction || this.#isLost) return;
    // If this fails, the connection is lost and the transaction with it.
    await this.#end('ROLLBACK').catch(() => {});
  }

  /** Calls `onPayload` for each notification, and `onEnd` once when the connection has ended. */
  listen(onPayload: (payload: string) => void, onEnd: () => void): void {
    this.#client.on('notification', ({ payload = '' }) => onPayload(payload));
    this.#client.on('end', onEnd);
  }

  /** Ends a dedicated connection without waiting for the server. */
  async end(): Promise<void> {
    this.#isLost = true;
    const timer = setTimeout(() => this.drop(), END_WAIT_MS);
    await this.#ending?.end().catch(() => {});
    clearTimeout(timer);
  }

  /** Destroys the connection. */
  drop(): void {
    this.#isLost = true;
    this.#ending?.destroy();
  }

  async #end(command: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    try {
      const { command: done } = await this.#send(command, []);
      this.#isInTransaction = false;
      if (done === command) return;
      // A failed transaction cannot be committed; the server reports that without an error.
      throw new DatabaseFailure(new Error(`the database has answered ${command} with ${done}`), 'refused');
    } catch (error) {
      throw this.#note(error);
    }
  }

  #send(sql: string, values: readonly unknown[]): ReturnType<Client['query']> {
    return this.#client.query(this.#toText(sql), values.map(toValue));
  }

  #note(error: unknown): DatabaseFailure {
    const failure = toFailure(error);
    if (failure.isLost) this.#isLost = true;
    if (failure !== error) this.#onFailure?.(failure);
    return failure;
  }
}

const END_WAIT_MS = 1_000;
