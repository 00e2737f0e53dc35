import { Misfit } from './misfit.ts';
import { join } from './read-fields.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The value as JSON, if that is what it is: YAML can also hold infinities, and both can be nested without end. */
export function readJson(value: unknown, path: string, depthMax: number): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object')
    throw new Misfit(path, `must be JSON, got ${typeof value === 'number' ? value : typeof value}`);
  if (depthMax === 0) throw new Misfit(path, 'is nested too deep');
  if (Array.isArray(value)) return value.map((item, index) => readJson(item, `${path}[${index}]`, depthMax - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new Misfit(path, 'must be JSON');
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, readJson(item, join(path, key), depthMax - 1)]));
}

/**
 * JSON text that is the same for the same value: keys sorted, so that a conversation that was kept in a database keeps
 * its ids.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

/** The value with every string in it, keys excepted, replaced. */
export function mapStrings(value: Json, replace: (text: string) => string): Json {
  if (typeof value === 'string') return replace(value);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((item) => mapStrings(item, replace));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, replace)]));
}

// Array.isArray does not narrow read-only lists.
function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
