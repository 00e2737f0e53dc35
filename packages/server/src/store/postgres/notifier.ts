import { storeLimits } from '../limits.ts';
import type { Signal } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { encodePayload } from './payload.ts';
import { pause } from './retry.ts';

/**
 * Notifies other processes of commits, after and outside of the commit: a notification takes a lock of the whole
 * database, which no commit should wait for. One notification is in progress at a time; later signals are in the next one.
 */
export class Notifier {
  readonly #database: Database;
  readonly #node: string;
  #waiting = new Map<string, Signal>();
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;
  #isClosing = false;

  constructor(database: Database, node: string) {
    this.#database = database;
    this.#node = node;
  }

  push(signals: readonly Signal[]): void {
    for (const signal of signals) {
      const key = `${signal.type} ${signal.sessionId}`;
      // Only the newest head of a log matters; it moves to the end.
      this.#waiting.delete(key);
      this.#waiting.set(key, signal);
    }
    if (this.#waiting.size > 0) this.#running ??= this.#run();
  }

  /** Sends the pending signals, if any process listens. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#running;
    await this.#connection?.end();
  }

  async #run(): Promise<void> {
    let delayMs: number = storeLimits.databaseRetryMs;
    while (this.#waiting.size > 0) {
      const waiting = this.#waiting;
      this.#waiting = new Map();
      try {
        await this.#send([...waiting.values()]);
        delayMs = storeLimits.databaseRetryMs;
      } catch {
        // Not needed: listeners also poll, and at once after a reconnect.
        if (this.#isClosing) break;
        this.#waiting = new Map([...waiting, ...this.#waiting]);
        await pause(delayMs);
        delayMs = Math.min(2 * delayMs, storeLimits.databaseRetryMsMax);
      }
    }
    this.#running = undefined;
  }

  async #send(signals: readonly Signal[]): Promise<void> {
    if (this.#connection === undefined || this.#connection.isLost) {
      this.#connection = await this.#database.connect('commit');
    }
    const payload = encodePayload(this.#node, signals);
    await this.#connection.query(NOTIFY, [this.#database.schema, payload]);
  }
}

/** A notification is a transaction of its own. It does not wait for the disk, because it is not needed after a crash. */
const NOTIFY = "SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)";
