import { storeLimits } from '../store/limits.ts';
import { webhookLimits } from './limits.ts';
import type { Store } from '../store/store.ts';
import { createWebhookCursors } from './webhook-cursors.ts';

/** The kind of the document of each address: when it was configured, and up to when it is delivered. */
export const ADDRESS = 'webhook';

/**
 * Removes the documents of addresses that have not been configured for three days. Their undelivered events have expired by
 * then, so an address that is configured again starts from the present.
 */
export async function removeUnusedAddresses(
  store: Pick<Store, 'documents' | 'now'>,
  namedIds: ReadonlySet<string>,
): Promise<void> {
  const { documents } = store;
  const [known, now] = await Promise.all([
    documents.list({ kind: ADDRESS, order: 'asc', limit: storeLimits.recordPageItemsMax }),
    store.now(),
  ]);
  const old = known.items.filter(
    ({ id, updatedAt }) => !namedIds.has(id) && now - updatedAt > webhookLimits.webhookKeepMs,
  );
  for (const { id: addressId } of old) {
    await createWebhookCursors({ store, addressId, holder: undefined }).clear();
    await documents.delete(ADDRESS, addressId);
  }
}
