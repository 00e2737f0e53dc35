import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import type { Told } from './tell-session.ts';

export interface WebhookSenderOptions {
  /** For people. */
  readonly label: string;
  /** Tells the address of one session whatever it does not know. */
  readonly tell: (sessionId: string, signal: AbortSignal) => Promise<Told>;
  readonly clock: Pick<Clock, 'steady'>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
  readonly waitingMax?: number;
}

interface Waiting {
  /** How often in a row the address did not take what came next. */
  readonly failures: number;
  readonly notBefore: number;
}

/**
 * Which sessions one address has to be told of, and when. It knows nothing but their names: what is to be told stands in
 * the log, so an address that is slow or away costs no memory but that, and nobody waits for it.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Being told; true if something has happened since. */
  readonly #telling = new Map<string, boolean>();
  readonly #rounds = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Of all sessions, since the address last took something. */
  #failures = 0;
  #pausedUntil = 0;
  #isGone = false;
  #cancel: Cancel = () => {};

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  /** Sessions that could be added. What does not fit has to be found again. */
  get room(): number {
    const { waitingMax = limits.webhookWaitingSessionsMax } = this.#options;
    return this.#isOver ? 0 : Math.max(0, waitingMax - this.#waiting.size);
  }

  /** Something happened in a session. False: there was no room for it. */
  notice(sessionId: string): boolean {
    if (this.#telling.has(sessionId)) this.#telling.set(sessionId, true);
    else if (!this.#waiting.has(sessionId)) {
      if (this.room === 0) return false;
      this.#waiting.set(sessionId, { failures: 0, notBefore: 0 });
    }
    this.#goOn();
    return true;
  }

  /** What is on its way is given up, and sent again after the next start. */
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
    // While it takes nothing, one is enough to find out when it does again.
    const atOnceMax = this.#failures > 0 ? 1 : limits.webhookSessionsAtOnceMax;
    let next = Number.POSITIVE_INFINITY;
    for (const [sessionId, { failures, notBefore }] of this.#waiting) {
      // The end of one goes on.
      if (this.#telling.size >= atOnceMax) return;
      if (notBefore <= now) this.#begin(sessionId, failures);
      else next = Math.min(next, notBefore);
    }
    if (next !== Number.POSITIVE_INFINITY) this.#goOnAt(next, now);
  }

  #goOnAt(time: number, now: number): void {
    this.#cancel = this.#options.schedule(() => this.#goOn(), time - now);
  }

  #begin(sessionId: string, failures: number): void {
    this.#waiting.delete(sessionId);
    this.#telling.set(sessionId, false);
    const round = this.#round(sessionId, failures).finally(() => {
      this.#rounds.delete(round);
      this.#goOn();
    });
    this.#rounds.add(round);
  }

  async #round(sessionId: string, failures: number): Promise<void> {
    const told = await this.#tell(sessionId);
    const isNoticed = this.#telling.get(sessionId) === true;
    this.#telling.delete(sessionId);
    if (this.#isOver) return;
    if (told.taken > 0) this.#failures = 0;
    if (told.type === 'gone') return this.#endForGood();
    if (told.type === 'refused') return this.#tryLater(sessionId, told.taken > 0 ? 0 : failures, told.reason);
    // It may have been done just before something happened, so it is asked again.
    const isElsewhere = told.type === 'elsewhere';
    const notBefore = isElsewhere ? this.#options.clock.steady() + limits.webhookRetryMs : 0;
    if (isElsewhere || isNoticed) this.#waiting.set(sessionId, { failures: 0, notBefore });
  }

  async #tell(sessionId: string): Promise<Told> {
    try {
      return await this.#options.tell(sessionId, this.#closing.signal);
    } catch (error) {
      // The store is away, most likely. Nothing is lost: it is all in there.
      return { type: 'refused', taken: 0, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Behind the others: an event that a receiver cannot take must not keep it from those that it can. */
  #tryLater(sessionId: string, failures: number, reason: string): void {
    const { label, clock, onProblem } = this.#options;
    if (this.#failures === 0) onProblem(new Error(`the webhook at ${label} is tried again later: ${reason}`));
    const now = clock.steady();
    this.#pausedUntil = now + toDelay(this.#failures);
    this.#waiting.set(sessionId, { failures: failures + 1, notBefore: now + toDelay(failures) });
    this.#failures++;
  }

  #endForGood(): void {
    const { label, onProblem } = this.#options;
    this.#isGone = true;
    this.#waiting.clear();
    onProblem(new Error(`the webhook at ${label} answered 410: it is told nothing more until the next start`));
  }
}

function toDelay(failures: number): number {
  return Math.min(limits.webhookRetryMs * 2 ** failures, limits.webhookRetryMsMax);
}
