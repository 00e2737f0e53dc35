import { limits } from '../base/limits.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** Documents that are worth nothing after a while, or without their session. */
export interface Sweepable {
  readonly kind: string;
  /** Older ones go. */
  readonly keepMs?: number;
  /** Those whose id is no session any more go. */
  readonly isOfSession?: boolean;
  /** What goes with it. */
  readonly onSwept?: (document: DocumentRecord) => Promise<void>;
}

/** Removes what nobody came for. Gives back how many. */
export async function sweep(
  store: Pick<Store, 'documents' | 'now' | 'heads'>,
  sweepables: readonly Sweepable[],
): Promise<number> {
  const now = await store.now();
  let count = 0;
  for (const { kind, keepMs = Number.POSITIVE_INFINITY, isOfSession = false, onSwept } of sweepables) {
    let cursor: string | null = null;
    do {
      const place: { cursor?: string } = cursor === null ? {} : { cursor };
      const page = await store.documents.list({ kind, order: 'asc', limit: limits.retentionPageItems, ...place });
      const heads = isOfSession ? await store.heads(page.items.map(({ id }) => id)) : undefined;
      const isOld = ({ id, updatedAt }: DocumentRecord) =>
        now - updatedAt > keepMs || (heads !== undefined && !heads.has(id) && now - updatedAt > limits.homeGoneMs);
      const old = page.items.filter(isOld);
      for (const document of old) {
        await onSwept?.(document);
        await store.documents.delete(kind, document.id);
      }
      count += old.length;
      cursor = page.next;
    } while (cursor !== null);
  }
  return count;
}
