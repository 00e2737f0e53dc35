import type { Clock } from '../base/clock.ts';
import type { RequestSign } from '../engines/engine.ts';

/** What is known of a model request while it is under way: it is gone with the request, and no frame tells it. */
export interface RequestLife {
  readonly since: number;
  /** How far it is; null if what answers it has no connection. */
  connection: 'queued' | 'sent' | 'open' | null;
  lastByteAt: number | null;
}

/** The requests of one session that are under way, by the ids of their starts. */
export class RequestSigns {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #lives = new Map<string, RequestLife>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  begin(startId: string): void {
    this.#lives.set(startId, { since: this.#clock.now(), connection: null, lastByteAt: null });
  }

  take(startId: string, sign: RequestSign): void {
    const life = this.#lives.get(startId);
    if (life === undefined) return;
    life.connection = sign === 'byte' ? 'open' : sign;
    if (sign === 'open' || sign === 'byte') life.lastByteAt = this.#clock.now();
  }

  end(startId: string): void {
    this.#lives.delete(startId);
  }

  of(startId: string): RequestLife | undefined {
    return this.#lives.get(startId);
  }
}
