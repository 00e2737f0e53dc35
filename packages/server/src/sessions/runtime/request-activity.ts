import type { Clock } from '../../base/clock.ts';
import type { RequestPhase } from '../../engines/model/engine.ts';

/** The progress of an open model request, in memory only. */
export interface RequestProgress {
  readonly since: number;
  /** The state of the connection; null for an engine without one. */
  connection: 'queued' | 'sent' | 'open' | null;
  lastByteAt: number | null;
}

/** The open model requests of one session, by the ids of their start events. */
export class RequestActivity {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #lives = new Map<string, RequestProgress>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  begin(startId: string): void {
    this.#lives.set(startId, { since: this.#clock.now(), connection: null, lastByteAt: null });
  }

  take(startId: string, sign: RequestPhase): void {
    const life = this.#lives.get(startId);
    if (life === undefined) return;
    life.connection = sign === 'byte' ? 'open' : sign;
    if (sign === 'open' || sign === 'byte') life.lastByteAt = this.#clock.now();
  }

  end(startId: string): void {
    this.#lives.delete(startId);
  }

  of(startId: string): RequestProgress | undefined {
    return this.#lives.get(startId);
  }
}
