import { join } from 'node:path';
import { createKeyDocuments } from '../keys/key-storage.ts';
import { type KeyStore, openKeyStore } from '../keys/key-store.ts';
import { openDatabase } from './open-database.ts';

/** Where the keys are stored. */
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
  const location =
    store === undefined ? { directory: join(dataDirectory, 'keys') } : { storage: createKeyDocuments(store) };
  const { keys, firstSecret } = await openKeyStore(location);
  // The first key is shown by the start of a server. One that was created here would never be shown, so it is revoked.
  if (firstSecret !== undefined) for (const { id } of await keys.list()) await keys.revoke(id);
  return { keys, close: async () => await store?.close() };
}
