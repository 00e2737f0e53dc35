import type { Json } from '../base/json/json.ts';

/** Undefined for text that is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    // Whatever JSON text is parsed comes to a JSON value.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
