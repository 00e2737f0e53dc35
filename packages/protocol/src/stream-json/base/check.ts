import { shortName } from './text-mark.ts';

/** Reading fields of a value that came from outside: wrong shapes read as absent, nothing throws. */

/** The value if it is a string. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value if it is a string that is not empty. */
export function nonEmpty(value: unknown): string | undefined {
  return text(value) || undefined;
}

/** An id: one of more than 256 characters as its beginning and its mark, so that nothing long is kept for it. */
export function identifier(value: unknown): string | undefined {
  const id = nonEmpty(value);
  return id && shortName(id);
}

/** The value if it is a finite number. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The value if it is a JSON object. */
export function record(value: unknown): Record<string, unknown> | undefined {
  // The cast: the three checks ensure a JSON object, which has string keys and unknown values.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The strings of an array. */
export function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

/**
 * A copy of the object without undefined fields, so that events have only present fields. A new object: deleting fields
 * would make every later read of it slow.
 */
export function defined<const T extends object>(value: T): Defined<T> {
  const result: { [key: string]: unknown } = {};
  for (const key in value) if (value[key] !== undefined) result[key] = value[key];
  // The cast: the loop removed the undefined fields.
  return result as Defined<T>;
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The value of a JSON text; undefined if the text is not JSON. */
export function fromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** JSON text; '' where JSON.stringify fails, e.g. on nesting that is too deep. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
