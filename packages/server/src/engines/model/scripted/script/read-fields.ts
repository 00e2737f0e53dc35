import { cutText } from '@fleetloom/protocol/fleet';
import { InvalidInput } from './invalid-input.ts';

/** Strict readers of untrusted values: an invalid value throws an error with its path and the reason. */

/** An object whose fields are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Checks that a value is an object. */
export function readFields(value: unknown, path: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, 'an object', value);
  // The cast: the three checks ensure a JSON object, which has string keys and unknown values.
  return value as Fields;
}

/** Checks that a value is a list of a permitted length. */
export function readList(value: unknown, path: string, { min = 0, max }: { min?: number; max: number }): unknown[] {
  if (!Array.isArray(value)) throw wrong(path, 'a list', value);
  if (value.length < min) throw new InvalidInput(path, `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`);
  if (value.length > max) throw new InvalidInput(path, `has ${value.length} entries, and ${max} are allowed`);
  return value;
}

/** Checks that a value is a string. */
export function readText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw wrong(path, 'a string', value);
  return value;
}

/** Checks that a value is a string that is not empty. */
export function readName(value: unknown, path: string): string {
  const name = readText(value, path);
  if (name === '') throw new InvalidInput(path, 'must not be empty');
  return name;
}

/** Checks that a value is a boolean. */
export function readFlag(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw wrong(path, 'true or false', value);
  return value;
}

/** Checks that a value is a number in a range. */
export function readNumber(value: unknown, path: string, { min, max }: { min: number; max: number }): number {
  if (typeof value !== 'number') throw wrong(path, 'a number', value);
  if (!(value >= min && value <= max)) throw new InvalidInput(path, `must be from ${min} to ${max}, got ${value}`);
  return value;
}

/** Checks that a value is an integer in a range. */
export function readWhole(value: unknown, path: string, range: { min: number; max: number }): number {
  const number = readNumber(value, path, range);
  if (!Number.isInteger(number)) throw new InvalidInput(path, `must be a whole number, got ${number}`);
  return number;
}

/** One string or a list of them. */
export function readTexts(value: unknown, path: string, max: number): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw wrong(path, 'a string or a list of strings', value);
  return readList(value, path, { max }).map((item, index) => readText(item, `${path}[${index}]`));
}

/** Rejects unknown fields: a misspelt field would be ignored, and the script would not play as written. */
export function refuseOthers(fields: Fields, path: string, known: readonly string[]): void {
  const other = Object.keys(fields).find((key) => !known.includes(key));
  if (other === undefined) return;
  throw new InvalidInput(join(path, other), `is unknown here; known: ${known.join(', ')}`);
}

/** The field, or the default where it is absent. */
export function readOr<T, D>(value: unknown, otherwise: D, read: (value: unknown) => T): T | D {
  return value === undefined ? otherwise : read(value);
}

/** The path of a field below another path. */
export function join(path: string, key: string): string {
  const shown = key.length <= 100 ? key : `${cutText(key, 99)}…`;
  return path === '' ? shown : `${path}.${shown}`;
}

function wrong(path: string, wanted: string, value: unknown): InvalidInput {
  return new InvalidInput(
    path,
    value === undefined ? `is missing, and must be ${wanted}` : `must be ${wanted}, got ${name(value)}`,
  );
}

function name(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}
