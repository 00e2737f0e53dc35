import { randomBytes } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { openSealedSecret } from './sealed-secret.ts';
import type { RandomBytes } from './secret.ts';
import { KEY_BYTES, toSigningKey } from './signing-key.ts';

/**
 * The same for all nodes: a token that one has signed is good at every other. The node that starts first makes it; in the
 * database it is sealed with the secret that all nodes are given.
 */
export async function openSharedSigningKey(
  store: Pick<Store, 'documents'>,
  secret: string,
  random: RandomBytes = randomBytes,
): Promise<Uint8Array> {
  const make = () => Buffer.from(random(KEY_BYTES)).toString('hex');
  const { text } = await openSealedSecret(store, { id: 'signing_key', secret, make, ifInClear: 'replaced' });
  return toSigningKey(text, 'signing_key in the database');
}
