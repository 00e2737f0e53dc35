import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Chance for secrets. Tests hand in their own. */
export type RandomBytes = (count: number) => Uint8Array;

/** 256 bits cannot be guessed, so wrong attempts need no limit. */
const SECRET_BYTES = 32;

/** Creates a secret. Its prefix identifies it to people and to scanners for leaked secrets. */
export function makeSecret(prefix: string, random: RandomBytes = randomBytes): string {
  return `${prefix}${Buffer.from(random(SECRET_BYTES)).toString('base64url')}`;
}

/**
 * The digest that is stored instead of a secret. A plain SHA-256 is enough, because the secret has as much entropy as the digest: slow
 * hashes with salt are for passwords, which can be guessed one after the other.
 */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Takes equally long whatever differs. */
export function isSameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
