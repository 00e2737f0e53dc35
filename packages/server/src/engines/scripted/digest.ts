import { createHash } from 'node:crypto';

/** A name for these parts: equal parts give equal names. Parts are kept apart, so that ab+c is not a+bc. */
export function digest(...parts: readonly string[]): string {
  return hash(parts).toString('hex');
}

/** An id as the API makes them: the prefix, `_01` and 22 characters, here from the parts instead of from chance. */
export function deriveId(prefix: 'msg' | 'toolu' | 'req', ...parts: readonly string[]): string {
  const bytes = hash([prefix, ...parts]).subarray(0, 22);
  return `${prefix}_01${Array.from(bytes, (byte) => DIGITS[byte % DIGITS.length]).join('')}`;
}

/** What a thinking block is signed with. It proves nothing; it only has to come back unchanged. */
export function deriveSignature(...parts: readonly string[]): string {
  return hash(['signature', ...parts]).toString('base64');
}

/** Base 58: no 0, O, I and l, which are easily misread. */
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function hash(parts: readonly string[]): Buffer {
  const sha = createHash('sha256');
  for (const part of parts) sha.update(`${part.length}:`).update(part);
  return sha.digest();
}
