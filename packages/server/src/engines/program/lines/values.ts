import type { Json } from '../../../base/json/json.ts';
import { baseLimits } from '../../../base/limits.ts';

// Lines of programs are untrusted: a field may have any value.

/** The value if it is an object. */
export function record(value: unknown): Record<string, unknown> | undefined {
  // The cast: the check ensures an object.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The value if it is a string that is not empty. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value if it can be a name: of an agent, a call, a request. A longer text is not kept. */
export function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= baseLimits.foreignNameCharsMax
    ? value
    : undefined;
}

/** The value if it is a finite number. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The value if it can be a number of tokens, and otherwise 0. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? value : 0;
}

const TOKENS_MAX = 1e12;

/** Casts a value that was parsed from JSON. */
export function toJson(value: unknown): Json {
  return (value ?? null) as Json;
}

/** The objects of a list, without its other values. */
export function records(value: unknown): readonly Record<string, unknown>[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.map(record).filter((item) => item !== undefined);
}
