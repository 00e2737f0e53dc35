import { createHash, type Hash } from 'node:crypto';
import type { TextPieces } from './json.ts';

/** A digest of the parts. Parts are separated, so that ab+c is not a+bc. */
export function digest(...parts: readonly string[]): string {
  return hash(parts).digest('hex');
}

/** Like `digest(kind, text)`, for a text of any length. */
export function* digestPieces(kind: string, { chars, pieces }: TextPieces): Generator<void, string> {
  const sha = hash([kind]).update(`${chars}:`);
  for (const piece of pieces) {
    sha.update(piece);
    yield;
  }
  return sha.digest('hex');
}

/** An id in the format of the API: the prefix, `_01` and 22 characters, derived from the parts instead of random. */
export function deriveId(prefix: 'msg' | 'toolu' | 'req', ...parts: readonly string[]): string {
  const bytes = hash([prefix, ...parts])
    .digest()
    .subarray(0, 22);
  return `${prefix}_01${Array.from(bytes, (byte) => DIGITS[byte % DIGITS.length]).join('')}`;
}

/** The signature of a thinking block. It is not checked; clients must return it unchanged. */
export function deriveSignature(...parts: readonly string[]): string {
  return hash(['signature', ...parts]).digest('base64');
}

/** Base 58: no 0, O, I and l, which are easily misread. */
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function hash(parts: readonly string[]): Hash {
  const sha = createHash('sha256');
  for (const part of parts) sha.update(`${part.length}:`).update(part);
  return sha;
}
