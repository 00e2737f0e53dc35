import { type Clock, systemClock } from '../base/clock.ts';
import { logLimits } from './limits.ts';
import { type Cancel, type Schedule, systemSchedule } from '../base/schedule.ts';

/** How long, and up to how many characters, deltas are collected into one frame. */
export interface DeltaCoalescerOptions {
  /** Pieces of text that are to become one frame. The place is what `push` was given. */
  readonly onDelta: (place: string, text: string) => void;
  readonly clock?: Clock;
  readonly schedule?: Schedule;
  readonly windowMs?: number;
  readonly charsMax?: number;
}

/**
 * Makes fewer frames of many small pieces of text. The first piece after a pause goes on at once; those that follow
 * within a few milliseconds wait for each other. The difference is not visible, and the log is several times shorter.
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

  /** Another place ends the text of the one before it, so the order of everything stays. */
  push(place: string, text: string): void {
    if (place !== this.#place) this.flush();
    this.#place = place;
    this.#text += text;
    const { clock, schedule, windowMs, charsMax } = this.#options;
    const waitMs = this.#lastAt + windowMs - clock.steady();
    if (waitMs <= 0 || this.#text.length >= charsMax) return this.flush();
    this.#cancel ??= schedule(() => this.flush(), waitMs);
  }

  /** Has to be called before anything else is written that comes after the text. */
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
