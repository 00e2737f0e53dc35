import { isObject } from '../../base/is-object.ts';

/**
 * The form that a wire value must have, field by field: a missing field is a problem, and so is an unknown one. Returns the
 * problems with their paths. `T` ties a form to the type of the contract.
 */
export interface Form<T> {
  (value: unknown, path: string): readonly string[];
  /** Never set; the field only ties the form to its type. */
  readonly of?: T;
}

/** A field that may be absent. Null is not the same as absent. */
export interface OptionalForm<T> {
  readonly optional: Form<T>;
}

/** A form for each field of an object; optional fields may be marked as such. */
export type Fields<T> = {
  readonly [Key in keyof T]-?: object extends Pick<T, Key>
    ? OptionalForm<Exclude<T[Key], undefined>> | Form<Exclude<T[Key], undefined>>
    : Form<T[Key]>;
};

/** An object with exactly these fields. */
export function object<T extends object>(fields: Fields<T>): Form<T> {
  const known = Object.entries(fields as Record<string, Form<unknown> | OptionalForm<unknown>>);
  return (value, path) => {
    if (!isObject(value)) return [wrong(path, 'an object', value)];
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
    return [
      ...known.flatMap(([key, form]) => checkField(value, key, form, path)),
      ...unknown.map((key) => `${path}.${key}: is not part of the wire contract`),
    ];
  };
}

/** Allows a field to be absent. */
export function optional<T>(form: Form<T>): OptionalForm<T> {
  return { optional: form };
}

export function nullable<T>(form: Form<T>): Form<T | null> {
  return (value, path) => (value === null ? [] : form(value, path));
}

export function list<T>(form: Form<T>): Form<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return [wrong(path, 'a list', value)];
    return value.flatMap((item, index) => form(item, `${path}[${index}]`));
  };
}

/** An object with any names and values of one form. */
export function record<T>(form: Form<T>): Form<Readonly<Record<string, T>>> {
  return (value, path) => {
    if (!isObject(value)) return [wrong(path, 'an object', value)];
    return Object.entries(value).flatMap(([key, item]) => form(item, `${path}.${key}`));
  };
}

/** One of several forms, which differ in their `type`. */
export function byType<T extends { readonly type: string }>(
  forms: {
    readonly [Type in T['type']]: Form<Extract<T, { readonly type: Type }>>;
  },
): Form<T> {
  return (value, path) => {
    if (!isObject(value)) return [wrong(path, 'an object', value)];
    const { type } = value;
    if (typeof type !== 'string' || !Object.hasOwn(forms, type)) {
      return [wrong(`${path}.type`, `one of ${Object.keys(forms).join(', ')}`, type)];
    }
    return (forms as Readonly<Record<string, Form<unknown>>>)[type]!(value, path);
  };
}

/** One of these values. */
export function literal<const T extends string | number | boolean | null>(...values: readonly T[]): Form<T> {
  return (value, path) => {
    const isOne = values.includes(value as T);
    return isOne ? [] : [wrong(path, values.map((each) => JSON.stringify(each)).join(' or '), value)];
  };
}

export const text: Form<string> = (value, path) => (typeof value === 'string' ? [] : [wrong(path, 'a text', value)]);
export const bool: Form<boolean> = (value, path) =>
  typeof value === 'boolean' ? [] : [wrong(path, 'a boolean', value)];
/** A whole number of at least 0. */
export const whole: Form<number> = (value, path) => {
  const isWhole = Number.isSafeInteger(value) && (value as number) >= 0;
  return isWhole ? [] : [wrong(path, 'a whole number of at least 0', value)];
};
/** A number of at least 0, which may have decimals. */
export const seconds: Form<number> = (value, path) => {
  const isSeconds = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return isSeconds ? [] : [wrong(path, 'a number of at least 0', value)];
};
export const nothing: Form<null> = literal(null);
/** A time in UTC, as the wire writes it. */
export const moment: Form<string> = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, 'a moment in UTC');
/** Any JSON value, which must be present. */
export const json: Form<unknown> = (value, path) => (value === undefined ? [wrong(path, 'something', value)] : []);
export const anyObject: Form<Readonly<Record<string, unknown>>> = record(json);

/** An id of this kind. */
export function id(prefix: string): Form<string> {
  const isId = (value: string) =>
    value.startsWith(`${prefix}_`) && /^[A-Za-z0-9_-]+$/.test(value.slice(prefix.length + 1));
  return (value, path) =>
    typeof value === 'string' && isId(value) ? [] : [wrong(path, `an id that begins with ${prefix}_`, value)];
}

/** A string that matches a pattern; `what` describes it in errors. */
export function like(pattern: RegExp, what: string): Form<string> {
  return (value, path) => (typeof value === 'string' && pattern.test(value) ? [] : [wrong(path, what, value)]);
}

function checkField(
  value: Readonly<Record<string, unknown>>,
  key: string,
  form: Form<unknown> | OptionalForm<unknown>,
  path: string,
): readonly string[] {
  const place = `${path}.${key}`;
  if (typeof form === 'function') {
    return Object.hasOwn(value, key) ? form(value[key], place) : [`${place}: is missing`];
  }
  return Object.hasOwn(value, key) ? form.optional(value[key], place) : [];
}

function wrong(path: string, expected: string, seen: unknown): string {
  const shown = seen === undefined ? 'nothing' : JSON.stringify(seen);
  return `${path}: must be ${expected}, and is ${shown.length > 200 ? `${shown.slice(0, 200)}…` : shown}`;
}
