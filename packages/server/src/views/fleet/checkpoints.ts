import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Cancel, Schedule } from '../../base/schedule.ts';
import { encodeToken } from './fleet-token.ts';
import type { KnownSessions } from './known-sessions.ts';

export interface CheckpointsOptions {
  readonly known: KnownSessions;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly send: (bytes: Uint8Array) => unknown;
}

/** Tells a reader of all sessions where it is, now and then. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  /** Bytes since it was told. */
  #untold = 0;
  /** Size of the last id. A long id is sent less often, so that ids stay a small part of the stream. */
  #bytes = 0;
  #cancel: Cancel | undefined;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** The reader was given so much more. */
  count(bytes: number): void {
    this.#untold += bytes;
    // Who loses its connection often must get on all the same.
    if (this.#untold >= Math.max(limits.fleetCheckpointBytes, 16 * this.#bytes)) return this.send();
    this.#cancel ??= this.#options.schedule(() => this.send(), limits.fleetCheckpointMs);
  }

  /** An id without an event: readers keep it, and nothing is dispatched. */
  send(): void {
    const { known, clock, send } = this.#options;
    this.end();
    this.#untold = 0;
    const bytes = Buffer.from(`id: ${encodeToken(known.toToken(clock.now()))}\n\n`);
    this.#bytes = bytes.length;
    send(bytes);
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
