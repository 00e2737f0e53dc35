import { setImmediate as nextTick } from 'node:timers/promises';

/**
 * Runs work that is too long for one iteration of the event loop: for a few milliseconds at a time, with other events
 * handled in between. The work is a generator that yields wherever it can be paused, at least every 100 µs or so.
 *
 * @example
 * const text = await inSlices(htmlToText(html, url), signal);
 */
export async function inSlices<Result>(work: Generator<void, Result>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    signal?.throwIfAborted();
    const end = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < end);
    await nextTick();
  }
}

const SLICE_MS = 8;
