import type { Clock } from '../base/clock.ts';
import { webhookLimits } from './limits.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import type { Delivery } from './deliver-session.ts';

export interface WebhookSenderOptions {
  /** The address in warnings. */
  readonly label: string;
  /** Delivers the pending events of one session. */
  readonly deliver: (sessionId: string, signal: AbortSignal) => Promise<Delivery>;
  readonly clock: Pick<Clock, 'steady' | 'now'>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
  readonly waitingMax?: number;
}

/** The deliveries to an address since the start of this process, and the pending ones. */
export interface WebhookState {
  readonly label: string;
  /** Whether the address responded with 410: nothing is sent to it until the next start. */
  readonly isGone: boolean;
  readonly delivered: number;
  /** Sessions with events that are not delivered yet. */
  readonly waiting: number;
  /** How long the oldest undelivered event has been waiting, as far as this process knows. */
  readonly oldestWaitMs: number;
  /** The latest deliveries, the newest first. */
  readonly deliveries: readonly WebhookOutcome[];
}

/** The result of delivering the pending events of one session. */
export interface WebhookOutcome {
  readonly at: number;
  /** Events that the address accepted. */
  readonly delivered: number;
  /** Why the next event was not accepted; null if all were. */
  readonly problem: string | null;
}

interface Waiting {
  /** Failed deliveries in a row. */
  readonly failures: number;
  readonly notBefore: number;
  /** Since when the session has had undelivered events. */
  readonly since: number;
}

interface Delivering {
  readonly since: number;
  /** When the session emitted more events during the delivery; undefined if it has not. */
  noticedAt: number | undefined;
}

/**
 * Queues the sessions with undelivered events of one address and decides when each is delivered. It holds only their ids:
 * the events are in the log, so a slow or unreachable address costs little memory and delays no session.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Sessions being delivered. */
  readonly #delivering = new Map<string, Delivering>();
  readonly #rounds = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Failures in a row, of all sessions. */
  #failures = 0;
  #pausedUntil = 0;
  #isGone = false;
  #delivered = 0;
  #deliveries: readonly WebhookOutcome[] = [];
  #cancel: Cancel = () => {};

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  /** How many more sessions fit into the queue. Further sessions must be found again. */
  get room(): number {
    const { waitingMax = webhookLimits.webhookWaitingSessionsMax } = this.#options;
    return this.#isOver ? 0 : Math.max(0, waitingMax - this.#waiting.size);
  }

  get state(): WebhookState {
    return {
      label: this.#options.label,
      isGone: this.#isGone,
      delivered: this.#delivered,
      waiting: this.#waiting.size + this.#delivering.size,
      oldestWaitMs: this.#oldestWaitMs(),
      deliveries: this.#deliveries,
    };
  }

  /** Queues a session that has new events; false if the queue is full. */
  notice(sessionId: string): boolean {
    const delivering = this.#delivering.get(sessionId);
    const since = this.#options.clock.steady();
    if (delivering !== undefined) delivering.noticedAt ??= since;
    else if (!this.#waiting.has(sessionId)) {
      if (this.room === 0) return false;
      this.#waiting.set(sessionId, { failures: 0, notBefore: 0, since });
    }
    this.#goOn();
    return true;
  }

  /** Aborts requests in progress; their events are sent again after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancel();
    await Promise.all(this.#rounds);
  }

  get #isOver(): boolean {
    return this.#isGone || this.#closing.signal.aborted;
  }

  #goOn(): void {
    this.#cancel();
    if (this.#isOver || this.#waiting.size === 0) return;
    const now = this.#options.clock.steady();
    if (this.#pausedUntil > now) return this.#goOnAt(this.#pausedUntil, now);
    // While the address fails, one attempt at a time is enough to see when it recovers.
    const atOnceMax = this.#failures > 0 ? 1 : webhookLimits.webhookSessionsAtOnceMax;
    let next = Number.POSITIVE_INFINITY;
    for (const [sessionId, { failures, notBefore, since }] of this.#waiting) {
      // The end of a delivery starts the next one.
      if (this.#delivering.size >= atOnceMax) return;
      if (notBefore <= now) this.#begin(sessionId, failures, since);
      else next = Math.min(next, notBefore);
    }
    if (next !== Number.POSITIVE_INFINITY) this.#goOnAt(next, now);
  }

  #goOnAt(time: number, now: number): void {
    this.#cancel = this.#options.schedule(() => this.#goOn(), time - now);
  }

  #begin(sessionId: string, failures: number, since: number): void {
    this.#waiting.delete(sessionId);
    this.#delivering.set(sessionId, { since, noticedAt: undefined });
    const round = this.#round(sessionId, failures).finally(() => {
      this.#rounds.delete(round);
      this.#goOn();
    });
    this.#rounds.add(round);
  }

  async #round(sessionId: string, failures: number): Promise<void> {
    const delivery = await this.#deliver(sessionId);
    const { since, noticedAt } = this.#delivering.get(sessionId)!;
    this.#delivering.delete(sessionId);
    if (this.#isOver) return;
    this.#keepOutcome(delivery);
    if (delivery.delivered > 0) this.#failures = 0;
    if (delivery.type === 'gone') return this.#endForGood();
    if (delivery.type === 'refused')
      return this.#tryLater(sessionId, delivery.delivered > 0 ? 0 : failures, delivery.reason, since);
    // The other node may have finished just before the newest event, so it is tried again.
    const isElsewhere = delivery.type === 'elsewhere';
    const now = this.#options.clock.steady();
    const notBefore = isElsewhere ? now + webhookLimits.webhookRetryMs : 0;
    if (isElsewhere || noticedAt !== undefined) {
      this.#waiting.set(sessionId, { failures: 0, notBefore, since: noticedAt ?? now });
    }
  }

  #keepOutcome(delivery: Delivery): void {
    const { delivered } = delivery;
    const problem =
      delivery.type === 'refused' ? delivery.reason : delivery.type === 'gone' ? 'it answered 410 (gone)' : null;
    if (delivered === 0 && problem === null) return;
    this.#delivered += delivered;
    const outcome = { at: this.#options.clock.now(), delivered, problem };
    this.#deliveries = [outcome, ...this.#deliveries].slice(0, webhookLimits.webhookOutcomesMax);
  }

  async #deliver(sessionId: string): Promise<Delivery> {
    try {
      return await this.#options.deliver(sessionId, this.#closing.signal);
    } catch (error) {
      // Most likely the store is unavailable. Nothing is lost: the events are in the log.
      return { type: 'refused', delivered: 0, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Puts the session at the end of the queue: one event that a receiver cannot process must not block the others. */
  #tryLater(sessionId: string, failures: number, reason: string, since: number): void {
    const { label, clock, onProblem } = this.#options;
    if (this.#failures === 0) onProblem(new Error(`the webhook at ${label} failed and will be retried: ${reason}`));
    const now = clock.steady();
    this.#pausedUntil = now + toDelay(this.#failures);
    this.#waiting.set(sessionId, { failures: failures + 1, notBefore: now + toDelay(failures), since });
    this.#failures++;
  }

  #oldestWaitMs(): number {
    const all = [...this.#waiting.values(), ...this.#delivering.values()];
    const now = this.#options.clock.steady();
    return all.reduce((longest, { since }) => Math.max(longest, now - since), 0);
  }

  #endForGood(): void {
    const { label, onProblem } = this.#options;
    this.#isGone = true;
    this.#waiting.clear();
    onProblem(new Error(`the webhook at ${label} answered 410: no more events are sent to it until the next start`));
  }
}

function toDelay(failures: number): number {
  return Math.min(webhookLimits.webhookRetryMs * 2 ** failures, webhookLimits.webhookRetryMsMax);
}
