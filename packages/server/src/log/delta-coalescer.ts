import { type Clock, systemClock } from '../base/clock.ts';
import { logLimits } from './limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../base/schedule.ts';

/** How long, and up to how many characters, deltas are collected into one frame. */
export interface DeltaCoalescerOptions {
  /** Receives pieces of text joined to one frame. `place` is the argument of `push`. */
  readonly onDelta: (place: string, text: string) => void;
  readonly clock?: Clock;
  readonly schedule?: Schedule;
  readonly windowMs?: number;
  readonly charsMax?: number;
}

/**
 * Joins many small pieces of text to fewer frames. The first piece after a pause is passed on at once; pieces that follow
 * within a few milliseconds are collected. Readers do not see the difference, and the log is several times shorter.
 */
export class DeltaCoalescer {
  readonly #options: Required<DeltaCoalescerOptions>;
  #place = '';
  #text = '';
  #lastAt = -Infinity;
  #cancel: Cancel | undefined;

  constructor(options: DeltaCoalescerOptions) {
    this.#options = {
      clock: systemClock,
      schedule: systemSchedule,
      windowMs: logLimits.deltaWindowMs,
      charsMax: logLimits.deltaCharsMax,
      ...options,
    };
  }

  /** A piece for another place flushes the collected text, so the order is kept. */
  push(place: string, text: string): void {
    if (place !== this.#place) this.flush();
    this.#place = place;
    this.#text += text;
    const { clock, schedule, windowMs, charsMax } = this.#options;
    const waitMs = this.#lastAt + windowMs - clock.steady();
    if (waitMs <= 0 || this.#text.length >= charsMax) return this.flush();
    this.#cancel ??= schedule(() => this.flush(), waitMs);
  }

  /** Must be called before anything is written that belongs behind the text. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#lastAt = this.#options.clock.steady();
    this.#options.onDelta(this.#place, text);
  }
}
