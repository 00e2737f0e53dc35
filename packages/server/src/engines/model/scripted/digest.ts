import { createHash, type Hash } from 'node:crypto';
import type { TextPieces } from './json.ts';

/** A name for these parts: equal parts give equal names. Parts are kept apart, so that ab+c is not a+bc. */
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

/** An id as the API makes them: the prefix, `_01` and 22 characters, here from the parts instead of from chance. */
export function deriveId(prefix: 'msg' | 'toolu' | 'req', ...parts: readonly string[]): string {
  const bytes = hash([prefix, ...parts])
    .digest()
    .subarray(0, 22);
  return `${prefix}_01${Array.from(bytes, (byte) => DIGITS[byte % DIGITS.length]).join('')}`;
}

/** The signature of a thinking block. It proves nothing; it only has to be returned unchanged. */
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
