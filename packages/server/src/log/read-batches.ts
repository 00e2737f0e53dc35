import type { Pace } from '../base/create-pace.ts';
import { logLimits } from './limits.ts';
import { storeLimits } from '../store/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { Entry } from '../store/frame.ts';
import type { ReadRequest, Store } from '../store/store.ts';

export interface ReadBatchesOptions extends Pick<ReadRequest, 'skipsDeltas'> {
  /** Paces a reader that no caller waits for. */
  readonly pace?: Pace | undefined;
}

/**
 * The entries of a log behind a cursor in small batches, up to its end and including frames written in the meantime. A long log
 * is read over many turns of the event loop.
 */
export async function* readBatches(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after = 0,
  { skipsDeltas = false, pace }: ReadBatchesOptions = {},
): AsyncGenerator<readonly Entry[]> {
  const { logBatchBytesMax: bytesMax } = storeLimits;
  const entriesMax = pace === undefined ? storeLimits.logBatchEntriesMax : logLimits.pacedEntriesMax;
  for (let cursor = after; ; ) {
    const entries = await store.read({ sessionId, after: cursor, entriesMax, bytesMax, skipsDeltas });
    if (entries.length === 0) return;
    for (let at = 0; at < entries.length; at += logLimits.sliceEntriesMax) {
      yield entries.slice(at, at + logLimits.sliceEntriesMax);
      await (pace ?? yieldToEventLoop)();
    }
    cursor = entries.at(-1)!.lastSeq;
  }
}
