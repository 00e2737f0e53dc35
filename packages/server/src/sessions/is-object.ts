import type { Json, JsonObject } from '../base/json.ts';

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
