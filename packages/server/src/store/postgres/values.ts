import { DatabaseFailure } from './database-failure.ts';

// What goes into a query and what comes out of it.

/** Text cannot have a zero here, and ids from outside may. It is kept as the last character there is, which is not used otherwise. */
const ZERO = '\u0000';
const ZERO_MARK = '\u{10ffff}';

/** Converts a value to the form that the driver expects. */
export function toValue(value: unknown): unknown {
  if (typeof value === 'string') return value.includes(ZERO) ? value.replaceAll(ZERO, ZERO_MARK) : value;
  return Array.isArray(value) ? value.map(toValue) : value;
}

/** By the number of the type. JSON stays text: the reader of the record parses it, and keys keep their order. */
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

/** Numbers of ours are times, sizes and counts. One that JavaScript cannot hold would be a wrong one. */
function toInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new DatabaseFailure(new RangeError(`the database returned ${text}, which is not a safe integer`), 'refused');
}
