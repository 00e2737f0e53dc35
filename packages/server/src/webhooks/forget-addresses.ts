import { limits } from '../base/limits.ts';
import type { Store } from '../store/store.ts';
import { createWebhookPlaces } from './webhook-places.ts';

/** Of each address: since when there is one, and how far it was told. */
export const ADDRESS = 'webhook';

/**
 * Removes what is kept of addresses that nobody names any more. What they were not told is too old by then, so one that
 * comes back later begins anew.
 */
export async function forgetAddresses(
  store: Pick<Store, 'documents' | 'now'>,
  namedIds: ReadonlySet<string>,
): Promise<void> {
  const { documents } = store;
  const [known, now] = await Promise.all([
    documents.list({ kind: ADDRESS, order: 'asc', limit: limits.recordPageItemsMax }),
    store.now(),
  ]);
  const old = known.items.filter(({ id, updatedAt }) => !namedIds.has(id) && now - updatedAt > limits.webhookKeepMs);
  for (const { id: addressId } of old) {
    await createWebhookPlaces({ store, addressId, holder: undefined }).clear();
    await documents.delete(ADDRESS, addressId);
  }
}
