import { shortName } from './text-mark.ts';

/** Reading fields of a value that came from outside: wrong shapes read as absent, nothing throws. */

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function nonEmpty(value: unknown): string | undefined {
  return text(value) || undefined;
}

/** An id: one of more than 256 characters as its beginning and its mark, so that nothing long is kept for it. */
export function identifier(value: unknown): string | undefined {
  const id = nonEmpty(value);
  return id && shortName(id);
}

export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function record(value: unknown): Record<string, unknown> | undefined {
  // The cast is what the three checks say: a JSON object has string keys and unknown values.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

export function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

/**
 * The object without the fields that are undefined, so that events carry only what is there. A new one: deleting fields
 * would make it slow for everybody who reads it afterwards.
 */
export function defined<const T extends object>(value: T): Defined<T> {
  const result: { [key: string]: unknown } = {};
  for (const key in value) if (value[key] !== undefined) result[key] = value[key];
  // The cast is what the loop did.
  return result as Defined<T>;
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The value of a JSON text; undefined where it is none. */
export function fromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** JSON text; '' where JSON.stringify gives up, e.g. on nesting too deep for it. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
