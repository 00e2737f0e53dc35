import type { Clock } from '../../base/clock.ts';
import { viewLimits } from '../limits.ts';
import type { Cancel, Schedule } from '../../base/schedule.ts';
import { encodeToken } from './fleet-token.ts';
import type { KnownSessions } from './known-sessions.ts';

export interface CheckpointsOptions {
  readonly known: KnownSessions;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly send: (bytes: Uint8Array) => unknown;
}

/** Sends the cursor of a reader of all sessions from time to time. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  /** Bytes sent since the last cursor. */
  #unreported = 0;
  /** Size of the last id in bytes. A long id is sent less often, so that ids remain a small part of the stream. */
  #bytes = 0;
  #cancel: Cancel | undefined;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** Counts bytes that were sent to the reader. */
  count(bytes: number): void {
    this.#unreported += bytes;
    // A reader that loses its connection often must make progress too.
    if (this.#unreported >= Math.max(viewLimits.fleetCheckpointBytes, 16 * this.#bytes)) return this.send();
    this.#cancel ??= this.#options.schedule(() => this.send(), viewLimits.fleetCheckpointMs);
  }

  /** Sends an id without an event: readers store it and dispatch nothing. */
  send(): void {
    const { known, clock, send } = this.#options;
    this.end();
    this.#unreported = 0;
    const bytes = Buffer.from(`id: ${encodeToken(known.toToken(clock.now()))}\n\n`);
    this.#bytes = bytes.length;
    send(bytes);
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
