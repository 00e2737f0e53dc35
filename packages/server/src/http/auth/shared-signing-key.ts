import { randomBytes } from 'node:crypto';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { KEY_BYTES, toSigningKey } from './signing-key.ts';
import type { RandomBytes } from './secret.ts';

/** The same for all nodes: a token that one has signed is good at every other. Whoever starts first makes it. */
export async function openSharedSigningKey(
  { documents }: Pick<Store, 'documents'>,
  random: RandomBytes = randomBytes,
): Promise<Uint8Array> {
  const known = await documents.get(KIND, ID);
  if (known !== undefined) return toKey(known.data);
  const key = Buffer.from(random(KEY_BYTES)).toString('hex');
  const made = await documents.put({ kind: KIND, id: ID, data: { key }, ifRevision: 0 }).catch((error: unknown) => {
    if (isStoreError(error, 'version_conflict')) return undefined;
    throw error;
  });
  return toKey((made ?? (await documents.get(KIND, ID)))!.data);
}

function toKey(data: object): Uint8Array {
  const { key } = data as { key?: unknown };
  return toSigningKey(typeof key === 'string' ? key : '', 'signing_key in the database');
}

const KIND = 'secret';
const ID = 'signing_key';
