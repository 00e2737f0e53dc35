import { baseLimits } from '../base/limits.ts';
import { invalidField } from './vault-errors.ts';

/** Applies a change of metadata: null removes a key. Throws if too many pairs result. */
export function mergeMetadata(
  before: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> {
  const all: Record<string, string | null> = { ...before, ...patch };
  const kept = Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const]));
  const merged = Object.fromEntries(kept);
  checkMetadata(merged);
  return merged;
}

/** Throws if there are too many pairs. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  const pairs = Object.keys(metadata).length;
  if (pairs <= baseLimits.metadataPairsMax) return;
  const advice = 'remove keys with null, or keep the rest elsewhere';
  throw invalidField('metadata', `has ${pairs} keys, and ${baseLimits.metadataPairsMax} are allowed`, advice);
}
