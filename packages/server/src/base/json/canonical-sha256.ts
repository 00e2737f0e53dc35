import { createHash } from 'node:crypto';
import type { Json } from './json.ts';

/**
 * The SHA-256 of a value, in hex, over its canonical form (RFC 8785): no spaces, the keys of every object in the order of
 * their UTF-16 code units, everything else as `JSON.stringify` writes it. It does not depend on the order of keys, and any program
 * can compute it from an export: docs/approvals.md has the three lines.
 */
export function canonicalSha256(value: Json): string {
  return createHash('sha256').update(toCanonical(value)).digest('hex');
}

/** Joined as text: a sorted object would not work, because keys that are numbers come first in every object. */
function toCanonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(toCanonical).join(',')}]`;
  const fields = Object.keys(value).toSorted();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${toCanonical(value[name]!)}`).join(',')}}`;
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
