import { readPages } from '../store/read-pages.ts';
import { nodeLimits } from './limits.ts';
import { storeLimits } from '../store/limits.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** A kind of documents that are removed after some time, or without their session. */
export interface Sweepable {
  readonly kind: string;
  /** Documents that were not updated for this long are removed. */
  readonly keepMs?: number;
  /** Whether documents are removed once no session has their id. */
  readonly isOfSession?: boolean;
  /** Removes data that belongs to a document. Called before the document is removed. */
  readonly onSwept?: (document: DocumentRecord) => Promise<void>;
}

/** Removes expired documents and returns their number. */
export async function sweep(
  store: Pick<Store, 'documents' | 'now' | 'heads'>,
  sweepables: readonly Sweepable[],
): Promise<number> {
  const now = await store.now();
  let count = 0;
  for (const { kind, keepMs = Number.POSITIVE_INFINITY, isOfSession = false, onSwept } of sweepables) {
    const request = { kind, order: 'asc', limit: storeLimits.retentionPageItems } as const;
    for await (const documents of readPages((from) => store.documents.list({ ...request, ...from }))) {
      const heads = isOfSession ? await store.heads(documents.map(({ id }) => id)) : undefined;
      const isOld = ({ id, updatedAt }: DocumentRecord) =>
        now - updatedAt > keepMs || (heads !== undefined && !heads.has(id) && now - updatedAt > nodeLimits.homeGoneMs);
      const old = documents.filter(isOld);
      for (const document of old) {
        await onSwept?.(document);
        await store.documents.delete(kind, document.id);
      }
      count += old.length;
    }
  }
  return count;
}
