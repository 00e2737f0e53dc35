import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Encrypts the stored response of a request, so that only a retry of that request can read it: responses contain secrets that
 * are shown once, and content of sessions that may be deleted before the response expires. The key is derived from values that only
 * the caller has, the credential and the request, and is not stored.
 */
export type SealingKey = Uint8Array;

/** Derives the key for one request of one credential. */
export function toSealingKey(credentialSecret: string, requestDigest: string): SealingKey {
  return new Uint8Array(hkdfSync('sha256', credentialSecret, requestDigest, 'fleetloom kept answer', KEY_BYTES));
}

/** Encrypts a response as text. */
export function sealAnswer(body: object | null, key: SealingKey): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const text = cipher.update(JSON.stringify(body));
  return Buffer.concat([iv, text, cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Decrypts a response. Undefined if it was encrypted with another key. */
export function openAnswer(sealed: string, key: SealingKey): { readonly body: object | null } | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return { body: JSON.parse(text.toString()) as object | null };
  } catch {
    return undefined;
  }
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
