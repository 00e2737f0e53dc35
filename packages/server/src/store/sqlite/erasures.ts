import { storeLimits } from '../limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import { isStoreError } from '../store-errors.ts';
import type { Database } from './database.ts';

/**
 * Removes deleted sessions from the file. A delete only makes the session unknown, in the transaction that it is part of;
 * its rows are removed afterwards, in slices, because a long log takes seconds. What waits is in the file itself, so that
 * the next start goes on with it after a crash.
 *
 * Removing a row is not enough. `secure_delete` overwrites its bytes; the write-ahead log, which still has them, is
 * emptied, and the unused parts of pages, where older copies may be, are overwritten.
 */
export class Erasures {
  readonly #database: Database;
  readonly #schedule: Schedule;
  readonly #onProblem: (problem: unknown) => void;
  readonly #onErase: () => void;
  #running: Promise<void> | undefined;
  #isClosing = false;
  #cancelRetry: Cancel = () => {};
  #resume: () => void = () => {};

  /** `onErase`: rows of segments are about to go, and others may get their keys. */
  constructor(
    database: Database,
    onProblem: (problem: unknown) => void,
    onErase: () => void = () => {},
    schedule: Schedule = systemSchedule,
  ) {
    this.#database = database;
    this.#onErase = onErase;
    this.#schedule = schedule;
    this.#onProblem = onProblem;
  }

  /** Called in the transaction of a delete: from now on no query finds the session or its records. */
  begin(key: number): void {
    this.#onErase();
    for (const statement of BEGIN) this.#database.prepare(statement).run(key);
  }

  /** Erases deleted sessions in the background. */
  wake(): void {
    this.#cancelRetry();
    if (this.#running !== undefined || this.#isClosing) return;
    this.#running = this.#run()
      .catch((problem: unknown) => this.#retryLater(problem))
      .finally(() => (this.#running = undefined));
  }

  /** Stops erasing: the database is about to be closed, and the next start continues. */
  stop(): void {
    this.#isClosing = true;
    this.#cancelRetry();
    this.#resume();
  }

  #retryLater(problem: unknown): void {
    if (this.#isClosing || isStoreError(problem, 'closed')) return;
    this.#onProblem(problem);
    this.#cancelRetry = this.#schedule(() => this.wake(), storeLimits.eraseRetryMs);
  }

  /** Erases all deleted sessions without pauses. Afterwards nothing of them is in the file. */
  async finish(): Promise<void> {
    this.stop();
    await this.#running;
    await this.#run();
  }

  async #run(): Promise<void> {
    for (let keys = this.#pending(); keys.length > 0; keys = this.#pending()) {
      for (const key of keys) while (this.#eraseSlice(key)) await this.#pause(storeLimits.erasePauseMs);
      // Concurrent deletes share the steps that follow.
      await this.#pause(storeLimits.eraseDelayMs);
      await this.#scrub();
      this.#database.transaction(() => keys.forEach((key) => this.#database.prepare(END).run(key)));
    }
  }

  #pending(): number[] {
    return this.#database
      .prepare<{ key: number }>(PENDING)
      .all()
      .map(({ key }) => key);
  }

  /** Removes some rows of a deleted session. False: no rows are left. */
  #eraseSlice(key: number): boolean {
    this.#onErase();
    return this.#database.transaction(() => {
      let [rows, bytes] = [0, 0];
      for (const { find, remove } of TABLES) {
        for (const row of this.#database.prepare<Row>(find).all(key, storeLimits.eraseRowsMax)) {
          if (rows >= storeLimits.eraseRowsMax || bytes >= storeLimits.eraseBytesMax) return true;
          this.#database.prepare(remove).run(row.id);
          rows++;
          bytes += row.bytes;
        }
      }
      return rows > 0;
    });
  }

  /** Each step is atomic, because between two steps other writes may change pages. */
  async #scrub(): Promise<void> {
    const { scrubber } = this.#database;
    if (scrubber === undefined) return;
    for (let [done, isOver] = [0, false]; !isOver; ) {
      const until = performance.now() + storeLimits.eraseStepMs;
      this.#database.emptyLog();
      do {
        const before = done;
        done = scrubber.scrub(done, PAGES_AT_ONCE);
        isOver = done < before + PAGES_AT_ONCE;
      } while (!isOver && (this.#isClosing || performance.now() < until));
      this.#database.forgetPages();
      if (!isOver) await this.#pause(storeLimits.erasePauseMs);
    }
    await scrubber.sync();
  }

  #pause(delayMs: number): Promise<void> {
    if (this.#isClosing) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#schedule(resolve, delayMs);
      this.#resume = () => (cancel(), resolve());
    });
  }
}

interface Row {
  readonly id: number;
  readonly bytes: number;
}

const PAGES_AT_ONCE = 256;

/**
 * Its record stays, without content and under names that no request can have, until everything else is erased. Without a
 * row in `owners` it has no log either.
 */
const BEGIN = [
  `UPDATE sessions SET id = 'deleted ' || key, workspace_id = '', agent_id = '', environment_id = '',
    status = 'terminated', archived_at = NULL, data = '' WHERE key = ?`,
  'DELETE FROM owners WHERE session_key = ?',
  'DELETE FROM works WHERE session_key = ?',
  'DELETE FROM runs WHERE session_key = ?',
  'DELETE FROM summaries WHERE session_key = ?',
  'DELETE FROM unindexed WHERE session_key = ?',
];
const PENDING = `SELECT key FROM sessions WHERE workspace_id = '' LIMIT 100`;
const END = 'DELETE FROM sessions WHERE key = ?';

/** Tables with large rows. Other rows are removed with the record. */
const TABLES = ['segments', 'checkpoints', 'inputs', 'approvals', 'threads'].map((table) => ({
  find: `SELECT rowid AS id, length(data) AS bytes FROM ${table} WHERE session_key = ? LIMIT ?`,
  remove: `DELETE FROM ${table} WHERE rowid = ?`,
}));
