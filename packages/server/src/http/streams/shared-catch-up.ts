import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { CatchUp } from './catch-up.ts';

interface Unwatched {
  readonly first: number;
  readonly last: number;
  /** The time of the last send, by the clock of the store. */
  readonly at: number;
}

/**
 * The catch-up of several nodes, for clients that send to one node and open the stream on another. Expired entries are
 * removed by the sweep of the store.
 */
export function createSharedCatchUp(store: Pick<Store, 'documents' | 'now'>): CatchUp {
  const { documents } = store;
  return {
    sent: (sessionId, head) => change(sessionId, (known, at) => ({ first: known?.first ?? head, last: head, at })),

    take: async (sessionId) => {
      let first: number | undefined;
      await change(sessionId, (known) => {
        first = known?.first;
        return undefined;
      });
      return first;
    },

    seen: (sessionId, upTo) =>
      change(sessionId, (known) => {
        if (known === undefined || known.last < upTo) return undefined;
        return { ...known, first: Math.max(known.first, upTo) };
      }),
  };

  /** Changes the entry of a session; undefined removes it. Retried when another node has written first. */
  async function change(
    sessionId: string,
    toNext: (known: Unwatched | undefined, now: number) => Unwatched | undefined,
  ): Promise<void> {
    for (let attempt = 0; attempt < baseLimits.updateAttemptsMax; attempt++) {
      const [before, now] = await Promise.all([documents.get(CATCH_UP, sessionId), store.now()]);
      const known = toKnown(before?.data, now);
      const next = toNext(known, now);
      if (next?.first === known?.first && next?.at === known?.at) return;
      try {
        // Only one of two nodes that take the entry at once may get it, so it is emptied at a revision, not removed.
        await documents.put({ kind: CATCH_UP, id: sessionId, data: next ?? {}, ifRevision: before?.revision ?? 0 });
        return;
      } catch (error) {
        if (!isStoreError(error, 'version_conflict')) throw error;
      }
    }
  }
}

function toKnown(data: object | undefined, now: number): Unwatched | undefined {
  // The cast: only this file writes the entry. A taken entry is empty.
  const { first, last, at } = (data ?? {}) as Partial<Unwatched>;
  if (first === undefined || last === undefined || at === undefined) return undefined;
  return at + httpLimits.catchUpMs > now ? { first, last, at } : undefined;
}

/** The kind of the stored documents. */
export const CATCH_UP = 'catch_up';
