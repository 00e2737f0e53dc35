import { inBackground, reportAsWarning } from '../../base/in-background.ts';
import { storeLimits } from '../limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Signal } from '../store.ts';
import { catchUp } from './catch-up.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { storeError } from '../store-errors.ts';
import { decodePayload, encodePayload } from './payload.ts';
import { pause } from './retry.ts';

export interface ListenerOptions {
  readonly database: Database;
  /** The name of this process, whose own signals are ignored. */
  readonly node: string;
  readonly onSignals: (signals: readonly Signal[]) => void;
  readonly schedule?: Schedule;
  readonly checkMs?: number;
}

/**
 * Receives what other processes have committed, on one connection. When that breaks another one is opened, and subscribers
 * receive signals for everything that may have changed in the meantime.
 */
export class Listener {
  readonly #options: Required<ListenerOptions>;
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;
  #cancelCheck: Cancel = () => {};
  #isClosed = false;
  /** Called when a notification of this process has come back. */
  #onOwn: () => void = () => {};
  /** Signals up to this time of the database were received. */
  #heardUntil = 0;

  constructor(options: ListenerOptions) {
    this.#options = { schedule: systemSchedule, checkMs: storeLimits.databaseListenCheckMs, ...options };
  }

  /** Resolves when it listens; signals from then on are delivered. */
  async start(): Promise<void> {
    try {
      await this.#connect();
      this.#heardUntil = await this.#now();
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#check();
  }

  /** Notifies itself and rejects if nothing arrives: behind a pooler in transaction mode LISTEN succeeds without effect. */
  async checkArrival(): Promise<void> {
    const { database, node, schedule } = this.#options;
    const probe = { hasArrived: false };
    for (let attempt = 1; attempt <= storeLimits.databaseProbesMax && !probe.hasArrived; attempt++) {
      const arrived = new Promise<void>((resolve) => {
        const cancel = schedule(resolve, storeLimits.databaseProbeMs);
        this.#onOwn = () => {
          probe.hasArrived = true;
          cancel();
          resolve();
        };
      });
      // Through the pool, not on the listening connection, where a pooler would also pass the notification on.
      await database.read('SELECT pg_notify($1, $2)', [database.schema, encodePayload(node, [])]);
      await arrived;
    }
    this.#onOwn = () => {};
    if (!probe.hasArrived) throw storeError('no_signals', 'the database accepts LISTEN, but no notification arrives');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelCheck();
    await this.#connection?.end();
    await this.#running;
  }

  async #connect(): Promise<void> {
    const { database } = this.#options;
    const connection = await database.connect('listen');
    this.#connection = connection;
    connection.listen(
      (payload) => this.#hear(payload),
      () => connection === this.#connection && this.#lose(),
    );
    await connection.query(`LISTEN ${database.schema}`);
  }

  #hear(text: string): void {
    const { node, signals } = decodePayload(text);
    if (node === this.#options.node) this.#onOwn();
    if (this.#isClosed || node === this.#options.node) return;
    // If the query fails, the next connection repeats it.
    if (signals === 'look') inBackground(this.#look(), () => this.#connection?.drop());
    else this.#options.onSignals(signals);
  }

  #lose(): void {
    this.#connection = undefined;
    if (!this.#isClosed) this.#running ??= this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    for (let delayMs: number = storeLimits.databaseRetryMs; !this.#isClosed; ) {
      try {
        await this.#connect();
        // Only after the new connection listens, so that no signal is missed.
        await this.#look();
        break;
      } catch {
        // The database is unavailable. Queries report that; signals resume with the next connection.
        await this.#connection?.end();
        this.#connection = undefined;
      }
      await pause(delayMs);
      delayMs = Math.min(2 * delayMs, storeLimits.databaseRetryMsMax);
    }
    this.#running = undefined;
  }

  /** Signals the sessions that may have been missed. */
  async #look(): Promise<void> {
    const { database, onSignals } = this.#options;
    const since = this.#heardUntil;
    const now = await this.#now();
    const signals = await catchUp(database, since);
    this.#heardUntil = now;
    if (signals.length > 0 && !this.#isClosed) onSignals(signals);
  }

  /** A connection can be dead without an error, which a query detects. */
  #check(): void {
    this.#cancelCheck = this.#options.schedule(() => {
      inBackground(
        this.#ask().finally(() => this.#isClosed || this.#check()),
        reportAsWarning,
      );
    }, this.#options.checkMs);
  }

  async #ask(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    const cancel = this.#options.schedule(() => connection.drop(), storeLimits.databaseConnectMs);
    try {
      const { rows } = await connection.query<{ now: number }>('SELECT @now AS now');
      this.#heardUntil = rows[0]!.now;
    } catch {
      // The connection is lost; the handler of its end opens another one.
      connection.drop();
    } finally {
      cancel();
    }
  }

  async #now(): Promise<number> {
    return (await this.#options.database.read<{ now: number }>('SELECT @now AS now')).rows[0]!.now;
  }
}
