import { yieldToEventLoop } from './yield-to-event-loop.ts';

/**
 * Runs work that is too long for one iteration of the event loop: for a few milliseconds at a time, with other events
 * handled in between. The work is a generator that yields wherever it can be paused, at least every 100 µs or so.
 *
 * Concurrent works take turns, slice by slice, and share one place in the queue of {@link yieldToEventLoop}: a hundred works
 * hold the loop no longer than one, and delay other callers of that queue by no more than one slice.
 *
 * @example
 * const text = await inSlices(htmlToText(html, url), signal);
 */
export async function inSlices<Result>(work: Generator<void, Result>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    // The previous work leaves `isRunning` set when it resumes this one, so that no third one runs in between.
    if (isRunning) await new Promise<void>((resolve) => waiting.push(resolve));
    isRunning = true;
    try {
      let pause = yieldToEventLoop();
      if (pause !== undefined) await pause;
      signal?.throwIfAborted();
      do {
        const step = work.next();
        if (step.done === true) return step.value;
        pause = yieldToEventLoop();
      } while (pause === undefined);
      await pause;
    } finally {
      resumeNext();
    }
  }
}

/** Runs the same work without a pause. Only for work that is known to be short. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Decides when work yields: a yield after each of its smallest steps would take longer than the steps.
 *
 * @example
 * const stride = new Stride();
 * for (const value of values) {
 *   handle(value);
 *   if (stride.isOver()) yield;
 * }
 */
export class Stride {
  #units = 0;

  /** Counts one visited value, or a text by its length. Returns whether the caller should yield. */
  isOver(chars = 0): boolean {
    this.#units += 1 + chars / CHARS_PER_UNIT;
    if (this.#units < STRIDE_UNITS) return false;
    this.#units = 0;
    return true;
  }
}

/** Checking or writing 256 values, or 64 Ki characters, takes about 100 µs. */
const STRIDE_UNITS = 256;
const CHARS_PER_UNIT = 256;

let isRunning = false;
const waiting: (() => void)[] = [];

function resumeNext(): void {
  const resume = waiting.shift();
  if (resume === undefined) isRunning = false;
  else resume();
}
