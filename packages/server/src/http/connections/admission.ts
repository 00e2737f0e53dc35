import type { Clock } from '../../base/clock.ts';
import { requestError } from '../../base/request-error.ts';
import { httpLimits } from '../limits.ts';

/** What an admission control measures, and where it reports that it rejects requests. */
export interface AdmissionOptions {
  readonly clock: Pick<Clock, 'steady'>;
  /** How long work that is due waits at this moment: for the event loop, or for a connection to the database. */
  readonly delayMs: () => number;
  readonly random: () => number;
  readonly onProblem: (problem: Error) => void;
}

/**
 * Lets requests for new work in as fast as they can be served. While what is due is late, they wait; a request that would wait
 * for longer than the limit is rejected, so that those that were let in finish in time. Everything else is never held up here:
 * health checks, reads, decisions, interrupts and tool results.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  /** When the requests under way were let in. */
  readonly #running = new Set<{ readonly since: number }>();
  #waiting: Waiting[] = [];
  /** Requests that waited and were let in since the last tick. */
  #admitted = 0;
  #tickedAt: number;
  /** How many of them there are per millisecond; unknown while none waits. */
  #rate: number | undefined;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  #rejected = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#tickedAt = options.clock.steady();
  }

  /** Requests that wait to be let in. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Requests that were rejected since the start. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Throws `overloaded` if a request that arrives now would wait for longer than the limit. */
  check(): void {
    if (this.#waiting.length >= httpLimits.admissionWaitingMax) throw this.#reject();
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#rate === undefined) return;
    // A short wait says little: the requests before it may all be let in at the next moment.
    if (this.#options.clock.steady() - oldest.since < httpLimits.admissionWaitMs / 2) return;
    if ((this.#waiting.length + 1) / this.#rate > httpLimits.admissionWaitMs) throw this.#reject();
  }

  /** Resolves when the request may begin, with the function to call when it is answered. Rejects with `overloaded`. */
  async enter(): Promise<() => void> {
    if (this.#waiting.length === 0 && this.#hasRoom()) return this.#admit();
    this.check();
    const since = this.#options.clock.steady();
    return await new Promise((resolve, reject) => this.#waiting.push({ since, resolve, reject }));
  }

  /** To be called regularly: lets in and rejects requests as time passes. */
  tick(): void {
    const now = this.#options.clock.steady();
    this.#measureRate(now);
    // Requests that take this long wait for something else, such as a clone, and say nothing about this process.
    for (const request of this.#running) {
      if (now - request.since < httpLimits.admissionSlotMs) break;
      this.#running.delete(request);
    }
    this.#letIn();
    const isOver = ({ since }: Waiting) => now - since >= httpLimits.admissionWaitMs;
    while (this.#waiting[0] !== undefined && isOver(this.#waiting[0])) this.#waiting.shift()!.reject(this.#reject());
  }

  #measureRate(now: number): void {
    const passedMs = now - this.#tickedAt;
    if (passedMs <= 0) return;
    const rate = this.#admitted / passedMs;
    const share = Math.min(1, passedMs / httpLimits.admissionWaitMs);
    // Without waiting requests the rate is that of the clients, not what could be served.
    if (this.#waiting.length > 0)
      this.#rate = this.#rate === undefined ? rate : this.#rate + share * (rate - this.#rate);
    else this.#rate = undefined;
    this.#admitted = 0;
    this.#tickedAt = now;
  }

  #hasRoom(): boolean {
    // One at a time also where everything is late, so that a slow machine does not reject all requests.
    if (this.#running.size === 0) return true;
    return this.#running.size < httpLimits.admissionSlots && this.#options.delayMs() < httpLimits.admissionDelayMs;
  }

  #letIn(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) {
      this.#admitted += 1;
      this.#waiting.shift()!.resolve(this.#admit());
    }
  }

  #admit(): () => void {
    const request = { since: this.#options.clock.steady() };
    this.#running.add(request);
    return () => {
      this.#running.delete(request);
      this.#letIn();
    };
  }

  #reject(): Error {
    const { clock, random, onProblem } = this.#options;
    const now = clock.steady();
    const problem = `this server has more work than it can begin within ${httpLimits.admissionWaitMs} ms`;
    // Once for each overload, not for each request.
    if (now - this.#rejectedAt > httpLimits.admissionReportMs) {
      onProblem(new Error(`${problem}: new requests for work are rejected with 529 overloaded until it has caught up`));
    }
    this.#rejectedAt = now;
    this.#rejected += 1;
    // Spread, so that the rejected clients do not come back together.
    const retryAfterSeconds = 1 + random() * (httpLimits.admissionRetrySecondsMax - 1);
    return requestError('overloaded', problem, { retryAfterSeconds });
  }
}

interface Waiting {
  readonly since: number;
  readonly resolve: (leave: () => void) => void;
  readonly reject: (error: Error) => void;
}
