import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { openSealedSecret } from '../keys/sealed-secret.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { pushLimits } from './limits.ts';

/** The key pair that identifies this installation to push services: RFC 8292. */
export interface Vapid {
  /** The key that browsers subscribe with: `applicationServerKey`, in base64url. */
  readonly publicKey: string;
  /** The value of the header `authorization` for a push service. */
  authorize(request: { readonly url: URL; readonly now: number; readonly contact: string }): string;
}

/**
 * Opens the key pair in the store, or creates it. Nodes that start at the same time get the same key pair. `secret`: encrypts the key in
 * a database that nodes share.
 */
export async function openVapid(store: Pick<Store, 'documents'>, secret: string | undefined): Promise<Vapid> {
  if (secret === undefined) return toVapid(await openPlain(store));
  // Browsers have subscribed with the key, so a key that was stored unencrypted is kept.
  const { text } = await openSealedSecret(store, { id: ID, secret, make: makeKey, ifInClear: 'sealed' });
  return toVapid(text);
}

/** A key pair from its private key: PKCS #8 in base64url. */
export function toVapid(text: string): Vapid {
  const key = createPrivateKey({ key: Buffer.from(text, 'base64url'), format: 'der', type: 'pkcs8' });
  const publicKey = toPoint(createPublicKey(key));
  return {
    publicKey,
    authorize: ({ url, now, contact }) => {
      const exp = Math.floor((now + pushLimits.pushSignatureMs) / 1_000);
      const signed = [
        { typ: 'JWT', alg: 'ES256' },
        { aud: url.origin, exp, sub: contact },
      ]
        .map(encode)
        .join('.');
      const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
      return `vapid t=${signed}.${signature}, k=${publicKey}`;
    },
  };
}

/** Opens a key that is stored unencrypted, like other secrets of the store, whose file only the server's user can read. */
async function openPlain({ documents }: Pick<Store, 'documents'>): Promise<string> {
  const known = await documents.get(KIND, ID);
  if (known !== undefined) return known.data['key'] as string;
  const key = makeKey();
  try {
    await documents.put({ kind: KIND, id: ID, data: { key }, ifRevision: 0 });
    return key;
  } catch (error) {
    if (!isStoreError(error, 'version_conflict')) throw error;
    return await openPlain({ documents });
  }
}

const KIND = 'secret';
const ID = 'vapid_key';

function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url');
}

/** The public key as an uncompressed point. */
function toPoint(key: KeyObject): string {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]).toString(
    'base64url',
  );
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
