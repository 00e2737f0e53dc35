import { limits } from '../base/limits.ts';
import type { Entry } from './frame.ts';
import type { Store } from './store.ts';

/** What stands in the log of a session behind a cursor, batch by batch, up to its end: with what comes while it is read. */
export async function* readBatches(
  store: Pick<Store, 'read'>,
  sessionId: string,
  after = 0,
): AsyncGenerator<readonly Entry[]> {
  const { logBatchEntriesMax: entriesMax, logBatchBytesMax: bytesMax } = limits;
  for (let cursor = after; ; ) {
    const entries = await store.read({ sessionId, after: cursor, entriesMax, bytesMax });
    if (entries.length === 0) return;
    yield entries;
    cursor = entries.at(-1)!.lastSeq;
  }
}
