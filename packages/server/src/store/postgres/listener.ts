import { inBackground, reportAsWarning } from '../../base/in-background.ts';
import { limits } from '../../base/limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Signal } from '../store.ts';
import { catchUp } from './catch-up.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { decodePayload } from './payload.ts';
import { pause } from './retry.ts';

export interface ListenerOptions {
  readonly database: Database;
  /** Who says the same name is this process itself, which knows. */
  readonly node: string;
  readonly onSignals: (signals: readonly Signal[]) => void;
  readonly schedule?: Schedule;
  readonly checkMs?: number;
}

/**
 * Hears what other processes have committed, on one connection. When that breaks another one is made, and whoever waits is
 * told what may have happened meanwhile.
 */
export class Listener {
  readonly #options: Required<ListenerOptions>;
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;
  #cancelCheck: Cancel = () => {};
  #isClosed = false;
  /** By the clock of the database: up to here nothing was missed. */
  #heardUntil = 0;

  constructor(options: ListenerOptions) {
    this.#options = { schedule: systemSchedule, checkMs: limits.databaseListenCheckMs, ...options };
  }

  /** Hears everything from when it resolves on. */
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
    if (this.#isClosed || node === this.#options.node) return;
    // If the database cannot be asked, a new connection looks again as soon as it can.
    if (signals === 'look') void this.#look().catch(() => this.#connection?.drop());
    else this.#options.onSignals(signals);
  }

  #lose(): void {
    this.#connection = undefined;
    if (!this.#isClosed) this.#running ??= this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    for (let delayMs: number = limits.databaseRetryMs; !this.#isClosed; ) {
      try {
        await this.#connect();
        // After the new one listens, so that nothing is between them.
        await this.#look();
        break;
      } catch {
        // The database is away. Who asks it for something hears of it; signals come again when it does.
        await this.#connection?.end();
        this.#connection = undefined;
      }
      await pause(delayMs);
      delayMs = Math.min(2 * delayMs, limits.databaseRetryMsMax);
    }
    this.#running = undefined;
  }

  /** Tells what may have been missed. */
  async #look(): Promise<void> {
    const { database, onSignals } = this.#options;
    const since = this.#heardUntil;
    const now = await this.#now();
    const signals = await catchUp(database, since);
    this.#heardUntil = now;
    if (signals.length > 0 && !this.#isClosed) onSignals(signals);
  }

  /** A connection can be dead without anybody saying so. Whoever asks finds out. */
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
    const cancel = this.#options.schedule(() => connection.drop(), limits.databaseConnectMs);
    try {
      const { rows } = await connection.query<{ now: number }>('SELECT @now AS now');
      this.#heardUntil = rows[0]!.now;
    } catch {
      // It is gone, and whoever is told when it ends makes another one.
      connection.drop();
    } finally {
      cancel();
    }
  }

  async #now(): Promise<number> {
    return (await this.#options.database.read<{ now: number }>('SELECT @now AS now')).rows[0]!.now;
  }
}
