import { randomBytes } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { openSealedSecret } from './sealed-secret.ts';
import type { RandomBytes } from './secret.ts';
import { KEY_BYTES, toSigningKey } from './signing-key.ts';

/**
 * The signing key of all nodes: a token signed by one node is valid on every other. The first node creates it; in the
 * database it is encrypted with the secret of the nodes.
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
