import { randomBytes } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';
import type { Store } from '../store/store.ts';
import { openSealedSecret } from './sealed-secret.ts';
import { createSealer, type Sealer } from './sealer.ts';
import { KEY_BYTES, openSigningKey, toSigningKey } from './signing-key.ts';

/** Where the master key is kept: in a private file, or with other nodes in a database, sealed with their secret. */
export type MasterKeyLocation =
  | { readonly file: string }
  | { readonly store: Pick<Store, 'documents'>; readonly secret: string };

/** Opens the key that encrypts stored secrets of users, and creates it if there is none. All nodes of a database use the same one. */
export async function openMasterKey(location: MasterKeyLocation): Promise<Sealer> {
  return createSealer(await openKey(location).catch(explain));
}

async function openKey(location: MasterKeyLocation): Promise<Uint8Array> {
  // Random bytes in a file with mode 0600, as the signing key: of two processes that start at once one wins.
  if ('file' in location) return await openSigningKey(location.file);
  const make = () => randomBytes(KEY_BYTES).toString('hex');
  const { store, secret } = location;
  const { text } = await openSealedSecret(store, { id: 'master_key', secret, make, ifInClear: 'replaced' });
  return toSigningKey(text, 'master_key in the database');
}

/** Another one cannot be made: what it has sealed would be lost. */
function explain(cause: unknown): never {
  if (!(cause instanceof FleetloomError) || cause.code !== 'signing_key_broken') throw cause;
  throw new FleetloomError({
    code: 'master_key_broken',
    kind: 'terminal',
    problem: 'the master key is not 64 hex digits, so stored tokens cannot be opened',
    advice: 'restore it from a backup; or remove it, and set the tokens of the repositories of open sessions again',
    cause,
  });
}
