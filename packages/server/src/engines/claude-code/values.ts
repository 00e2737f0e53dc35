import type { Json } from '../../base/json.ts';

// Lines are from outside, and a field may hold anything.

export function record(value: unknown): Record<string, unknown> | undefined {
  // The cast is what the check says.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** What was parsed from JSON is JSON. */
export function toJson(value: unknown): Json {
  return (value ?? null) as Json;
}
