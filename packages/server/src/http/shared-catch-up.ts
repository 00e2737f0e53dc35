import { limits } from '../base/limits.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { CatchUp } from './catch-up.ts';

interface Unwatched {
  readonly first: number;
  readonly last: number;
  /** When it was last sent, by the clock of the store. */
  readonly at: number;
}

/**
 * The same as the one of a single process, for clients that send to one node and open the stream at another. What nobody
 * has asked for is swept.
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

  /** Undefined: nothing is left of it. Made anew when another node came first. */
  async function change(
    sessionId: string,
    toNext: (known: Unwatched | undefined, now: number) => Unwatched | undefined,
  ): Promise<void> {
    for (let attempt = 0; attempt < limits.updateAttemptsMax; attempt++) {
      const [before, now] = await Promise.all([documents.get(CATCH_UP, sessionId), store.now()]);
      const known = toKnown(before?.data, now);
      const next = toNext(known, now);
      if (next?.first === known?.first && next?.at === known?.at) return;
      try {
        // Of two that take it at once only one may have it, so it is emptied and not just removed.
        await documents.put({ kind: CATCH_UP, id: sessionId, data: next ?? {}, ifRevision: before?.revision ?? 0 });
        return;
      } catch (error) {
        if (!isStoreError(error, 'version_conflict')) throw error;
      }
    }
  }
}

function toKnown(data: object | undefined, now: number): Unwatched | undefined {
  // Only this file writes it; one that was taken is empty.
  const { first, last, at } = (data ?? {}) as Partial<Unwatched>;
  if (first === undefined || last === undefined || at === undefined) return undefined;
  return at + limits.catchUpMs > now ? { first, last, at } : undefined;
}

export const CATCH_UP = 'catch_up';
