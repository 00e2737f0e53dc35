import type { Json } from '../base/json/json.ts';

/** Parses JSON. Undefined for text that is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    // `JSON.parse` returns only JSON values.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
