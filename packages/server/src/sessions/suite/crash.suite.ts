import { toSessionFrame } from '../../frames/frames.ts';
import type { SessionFrame } from '../../frames/frames.ts';
import { StoredFrame } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { sessionOf, type Write } from '../../store/write.ts';

/** A store that remembers what was written to it, write by write. */
export function recordWrites(store: Store): Store & { readonly writes: readonly Write[] } {
  const writes: Write[] = [];
  return {
    ...store,
    writes,
    commit: async (batch) => {
      const outcomes = await store.commit(batch);
      writes.push(...batch.filter((_, index) => outcomes[index]!.ok));
      return outcomes;
    },
  };
}

/**
 * Writes to another store what a process would have left behind if it had been killed as soon as a frame was durable.
 * Whatever was sent to the session before is there too.
 */
export async function writeUntil(to: Store, writes: readonly Write[], isLast: (frame: SessionFrame) => boolean) {
  let fence = 0;
  for (const write of writes) {
    const sessionId = sessionOf(write);
    if (write.type === 'delete') throw new Error('nothing is left behind by a session that was deleted');
    const [outcome] = await to.commit([write.type === 'append' ? { ...write, fence } : write]);
    if (!outcome!.ok) throw outcome!.error;
    if (write.type === 'create') {
      // Too short to matter: the next process finds no owner.
      const lease = await to.leases.acquire({ sessionId, owner: 'killed', ttlMs: 0 });
      if (!lease.ok) throw new Error('a session that is new has no owner');
      fence = lease.fence;
    }
    const frames = write.type === 'submit' ? [] : write.frames;
    if (frames.some(({ bytes }) => isLast(toSessionFrame(new StoredFrame(sessionId, 0, bytes).value)))) return;
  }
  throw new Error('such a frame was never written');
}
