import type { ConnectionUse, FailureKind } from '../connection-use.ts';
import { DatabaseFailure } from './database-failure.ts';

/** The part of the driver's pool that is read. */
interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
}

/** Counts how long queries wait for a connection, and how many fail. */
export class ConnectionWaits implements ConnectionUse {
  readonly max: number;
  readonly failures: Record<FailureKind, number> = { unreachable: 0, lost: 0, refused: 0 };
  queries = 0;
  waitedMs = 0;
  readonly #pool: Pool;
  /** In the order of their start. */
  readonly #waiting = new Set<{ readonly since: number }>();

  constructor(pool: Pool, max: number) {
    this.#pool = pool;
    this.max = max;
  }

  get open(): number {
    return this.#pool.totalCount;
  }

  get used(): number {
    return this.#pool.totalCount - this.#pool.idleCount;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get oldestWaitMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : performance.now() - oldest.since;
  }

  /** Measures the wait for a connection. */
  async waitFor<Client>(connect: () => Promise<Client>): Promise<Client> {
    const wait = { since: performance.now() };
    this.#waiting.add(wait);
    try {
      return await connect();
    } finally {
      this.#waiting.delete(wait);
      this.queries += 1;
      this.waitedMs += performance.now() - wait.since;
    }
  }

  noteFailure(failure: unknown): void {
    if (!(failure instanceof DatabaseFailure) || failure.isConflict) return;
    this.failures[failure.isUnreachable ? 'unreachable' : failure.isLost ? 'lost' : 'refused'] += 1;
  }
}
