import { DatabaseFailure } from './database-failure.ts';

// Conversion of values in queries and their results.

/** PostgreSQL text cannot contain NUL, but foreign ids may. NUL is stored as U+10FFFF, which is not used otherwise. */
const ZERO = '\u0000';
const ZERO_MARK = '\u{10ffff}';

/** Converts a value to the form that the driver expects. */
export function toValue(value: unknown): unknown {
  if (typeof value === 'string') return value.includes(ZERO) ? value.replaceAll(ZERO, ZERO_MARK) : value;
  return Array.isArray(value) ? value.map(toValue) : value;
}

/** The parser of a type id. JSON stays text: the reader of the record parses it, and keys keep their order. */
export function parserOf(type: number): (text: string) => unknown {
  return parsers[type] ?? ((text) => text);
}

const parsers: Record<number, (text: string) => unknown> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: toInteger,
  21: Number,
  23: Number,
  25: (text) => (text.includes(ZERO_MARK) ? text.replaceAll(ZERO_MARK, ZERO) : text),
  1016: (text) =>
    text === '{}'
      ? []
      : text
          .slice(1, -1)
          .split(',')
          .map((item) => (item === 'NULL' ? null : toInteger(item))),
};

/** All numbers are times, sizes and counts. A number that JavaScript cannot represent is an error. */
function toInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new DatabaseFailure(new RangeError(`the database returned ${text}, which is not a safe integer`), 'refused');
}
