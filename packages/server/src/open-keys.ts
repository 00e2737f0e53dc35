import { join } from 'node:path';
import { openKeyDocuments } from './http/auth/key-shelf.ts';
import { type KeyStore, openKeyStore } from './http/auth/key-store.ts';
import { openDatabase } from './open-database.ts';

export interface OpenKeysOptions {
  readonly dataDirectory: string;
  /** The PostgreSQL database that several servers share; without it keys are in the data directory. */
  readonly database?: string | undefined;
}

/** The keys of a server, whether it runs or not: what is changed here counts there within a second. */
export async function openKeys({
  dataDirectory,
  database: url,
}: OpenKeysOptions): Promise<{ readonly keys: KeyStore; readonly close: () => Promise<void> }> {
  const store = url === undefined ? undefined : await openDatabase({ url });
  const place = store === undefined ? { directory: join(dataDirectory, 'keys') } : { shelf: openKeyDocuments(store) };
  const { keys, firstSecret } = await openKeyStore(place);
  // A first key is for whoever starts a server. Nobody would ever hear of one that was made here.
  if (firstSecret !== undefined) for (const { id } of await keys.list()) await keys.revoke(id);
  return { keys, close: async () => await store?.close() };
}
