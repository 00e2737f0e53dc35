import type { Clock } from '../../base/clock.ts';
import { requestError } from '../../base/request-error.ts';
import { httpLimits } from '../limits.ts';

/** The measurements that an admission control needs, and its report of rejected requests. */
export interface AdmissionOptions {
  readonly kind: AdmissionKind;
  readonly clock: Pick<Clock, 'steady'>;
  /** How long due work waits at this moment: for the event loop, or for a connection to the database. */
  readonly delayMs: () => number;
  /** The recent utilisation of the event loop, from 0 to 1. */
  readonly busyShare: () => number;
  readonly random: () => number;
  readonly onProblem: (problem: Error) => void;
}

/** Requests for new work, and reads of one resource or list. All other requests are never delayed. */
export type AdmissionKind = 'work' | 'reads';

/**
 * Admits requests of one kind as fast as they can be served. While due work is late, they wait; a request that would wait
 * for longer than the limit is rejected, so that admitted requests finish in time. The number of requests in progress depends
 * on how long they take: it is lower on a slow machine, or behind much accepted work.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #limits: (typeof httpLimits.admission)[AdmissionKind];
  /** Admitted requests in progress, except those that were found to wait for something else. */
  readonly #running = new Set<Running>();
  /** How many requests may be in progress: fewer after each slow one, more while all slots are in use and none is slow. */
  #slots: number;
  #reducedAt = Number.NEGATIVE_INFINITY;
  #waiting: Waiting[] = [];
  /** Requests that waited and were admitted since the last tick. */
  #admitted = 0;
  /** How long the last requests took after they were admitted. */
  readonly #served: number[] = [];
  #tickedAt: number;
  /** Admitted requests per millisecond; unknown while no request waits. */
  #rate: number | undefined;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  #rejected = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#limits = httpLimits.admission[options.kind];
    this.#slots = this.#limits.first;
    this.#tickedAt = options.clock.steady();
  }

  /** The number of requests that wait to be admitted. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** The number of requests that were rejected since the start. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Throws `overloaded` if a request that arrives now would wait for longer than the limit. */
  check(): void {
    if (this.#waiting.length >= httpLimits.admissionWaitingMax) throw this.#reject();
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#rate === undefined || this.#waiting.length < httpLimits.admissionQueueLeast)
      return;
    // A short wait is not significant: the requests in the queue may all be admitted in a moment.
    if (this.#options.clock.steady() - oldest.since < this.#limits.queueMs / 2) return;
    if ((this.#waiting.length + 1) / this.#rate > this.#limits.queueMs) throw this.#reject();
  }

  /**
   * Resolves when the request may begin, with the function to call when it is answered. Rejects with `overloaded`.
   * `since` is when the request arrived.
   */
  async enter(since = this.#options.clock.steady()): Promise<() => void> {
    if (this.#waiting.length === 0 && this.#hasRoom()) return this.#admit();
    this.check();
    return await new Promise((resolve, reject) => this.#waiting.push({ since, resolve, reject }));
  }

  /** Admits and rejects waiting requests as time passes. Must be called regularly. */
  tick(): void {
    const now = this.#options.clock.steady();
    this.#measureRate(now);
    const isBusy = this.#isBusy();
    for (const request of this.#running) {
      if (!this.#isSlow(request, isBusy)) break;
      this.#reduce(request, isBusy);
      // While this process is not busy, a slow request may be waiting for something else, such as a clone.
      if (!isBusy && !this.#isLate()) this.#running.delete(request);
    }
    this.#letIn();
    const isOver = ({ since }: Waiting) => now - since >= this.#waitMs();
    while (this.#waiting[0] !== undefined && isOver(this.#waiting[0])) this.#waiting.shift()!.reject(this.#reject());
  }

  /** How long a request may wait so that its response is still likely to be in time. */
  #waitMs(): number {
    const { waitMs, answerMs } = this.#limits;
    if (this.#waiting.length < httpLimits.admissionQueueLeast) return waitMs;
    // The 90th percentile: a request that waits for something else, such as a clone, must not count.
    const slowMs = this.#served.toSorted((a, b) => a - b)[Math.floor(0.9 * (this.#served.length - 1))] ?? 0;
    return Math.min(waitMs, Math.max(httpLimits.admissionWaitLeastMs, answerMs - slowMs));
  }

  #measureRate(now: number): void {
    const passedMs = now - this.#tickedAt;
    if (passedMs <= 0) return;
    const rate = this.#admitted / passedMs;
    const share = Math.min(1, passedMs / this.#limits.waitMs);
    // Without waiting requests, the rate is the rate of the clients, not the capacity of the server.
    if (this.#waiting.length > 0)
      this.#rate = this.#rate === undefined ? rate : this.#rate + share * (rate - this.#rate);
    else this.#rate = undefined;
    this.#admitted = 0;
    this.#tickedAt = now;
  }

  #hasRoom(): boolean {
    // A minimum is admitted even if all work is late, so that a slow machine does not reject all requests.
    if (this.#running.size < this.#limits.least) return true;
    const most = this.#isLate() ? this.#leastOf(this.#isBusy()) : this.#slots;
    return this.#running.size < Math.floor(Math.min(most, this.#slots));
  }

  #isLate(): boolean {
    return this.#options.delayMs() >= httpLimits.admissionDelayMs;
  }

  #isBusy(): boolean {
    return this.#options.busyShare() >= httpLimits.admissionBusyShare;
  }

  /** The minimum of requests in progress: higher if this process waits for something else that is slow. */
  #leastOf(isBusy: boolean): number {
    return isBusy ? this.#limits.least : Math.max(this.#limits.least, httpLimits.admissionIdleSlots);
  }

  #isSlow({ since }: Running, isBusy: boolean): boolean {
    const slowMs = isBusy ? httpLimits.admissionSlowMs : httpLimits.admissionSlowIdleMs;
    return this.#options.clock.steady() - since >= slowMs;
  }

  /** Reduces the slots, once for all requests that ran at the same time. */
  #reduce({ since }: Running, isBusy: boolean): void {
    if (since < this.#reducedAt) return;
    this.#slots = Math.min(this.#slots, Math.max(this.#leastOf(isBusy), this.#slots * httpLimits.admissionSlotsFactor));
    this.#reducedAt = this.#options.clock.steady();
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
      const isFull = this.#running.size >= Math.floor(this.#slots);
      if (!this.#running.delete(request)) return;
      if (this.#served.push(this.#options.clock.steady() - request.since) > httpLimits.admissionServed)
        this.#served.shift();
      const isBusy = this.#isBusy();
      if (this.#isSlow(request, isBusy)) this.#reduce(request, isBusy);
      else if (isFull) this.#slots = Math.min(this.#limits.most, this.#slots + 1 / this.#slots);
      this.#letIn();
    };
  }

  #reject(): Error {
    const { kind, clock, random, onProblem } = this.#options;
    const now = clock.steady();
    const problem = `this server has more ${kind} than it can begin within ${Math.round(this.#waitMs())} ms`;
    const requests = kind === 'work' ? 'new requests for work' : 'reads';
    // Reported once for each overload, not for each request.
    if (now - this.#rejectedAt > httpLimits.admissionReportMs) {
      onProblem(new Error(`${problem}: ${requests} are rejected with 529 overloaded until it has caught up`));
    }
    this.#rejectedAt = now;
    this.#rejected += 1;
    // Random, so that the rejected clients do not return at the same time.
    const retryAfterSeconds = 1 + random() * (httpLimits.admissionRetrySecondsMax - 1);
    return requestError('overloaded', problem, { retryAfterSeconds });
  }
}

interface Running {
  readonly since: number;
}

interface Waiting {
  readonly since: number;
  readonly resolve: (leave: () => void) => void;
  readonly reject: (error: Error) => void;
}
