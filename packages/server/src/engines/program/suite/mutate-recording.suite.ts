import { readFileSync } from 'node:fs';
import type { RandomText } from '../../../../../../bench/random-text.ts';
import type { Json } from '../../../base/json/json.ts';

/** A line of a recording; null at the end of a process. */
export interface RecordedRow {
  readonly dir: 'in' | 'out';
  readonly via?: string;
  readonly line: string | null;
}

export function readRows(path: string | URL): RecordedRow[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  // The cast: these files were recorded for these tests.
  return lines.map((line) => JSON.parse(line) as RecordedRow);
}

/** How the lines of one kind of program are mutated. */
export interface RecordedLines {
  /** A line that the program wrote on its own, and not as the response to a request. */
  readonly isEvent: (row: RecordedRow) => boolean;
  /** The conversation of a line. Lines of other conversations do not depend on it; undefined if it is not known. */
  readonly conversationOf: (message: Message) => string | undefined;
  /** Whether a program could write the line again without a change of the events. */
  readonly isRepeatable: (message: Message) => boolean;
  /** A line of a type that no version has written. */
  readonly unknown: Message;
}

export type Message = { readonly [name: string]: Json };
type Rows = readonly RecordedRow[];
type Mutate = (rows: Rows, random: RandomText, lines: RecordedLines) => Rows;

/** Mutations without an effect: each thread must have the same events. */
export const harmless: Readonly<Record<string, Mutate>> = {
  'unknown lines, fields and broken lines': (rows, random, { unknown, isEvent }) =>
    rows.flatMap((row) => {
      if (!isEvent(row)) return [row];
      const added = random.pick([JSON.stringify(unknown), '{"half":', '[]', '17', '"text"', 'null', '{}']);
      const more =
        random.below(3) === 0 ? [{ ...row, line: row.via === undefined ? added : JSON.stringify(unknown) }] : [];
      return [...more, { ...row, line: JSON.stringify(withUnknown(toMessage(row), random)) }];
    }),
  'a repeated line': (rows, random, { isEvent, isRepeatable }) => {
    const at = pickAt(rows, random, (row) => isEvent(row) && isRepeatable(toMessage(row)));
    return at < 0 ? rows : rows.toSpliced(at, 0, rows[at]!);
  },
  'two lines of different threads in another order': (rows, random, { isEvent, conversationOf, isRepeatable }) => {
    const of = (row: RecordedRow | undefined) =>
      row !== undefined && isEvent(row) && isRepeatable(toMessage(row)) ? conversationOf(toMessage(row)) : undefined;
    const isFree = (row: RecordedRow, at: number) => {
      const [one, next] = [of(row), of(rows[at + 1])];
      return one !== undefined && next !== undefined && one !== next;
    };
    const at = pickAt(rows, random, isFree);
    return at < 0 ? rows : rows.toSpliced(at, 2, rows[at + 1]!, rows[at]!);
  },
};

/** Mutations that remove or falsify lines: only the rules for all events must hold. */
export const harmful: Readonly<Record<string, Mutate>> = {
  'lost lines': (rows, random, { isEvent }) => {
    const lost = new Set(Array.from({ length: 1 + random.below(3) }, () => pickAt(rows, random, isEvent)));
    return rows.filter((_, at) => !lost.has(at));
  },
  'a late line': (rows, random, { isEvent }) => {
    const at = pickAt(rows, random, isEvent);
    const end = rows.findIndex(({ line }, index) => index > at && line === null);
    const to = Math.min(at + 1 + random.below(12), end < 0 ? rows.length : end - 1);
    return at < 0 ? rows : rows.toSpliced(at, 1).toSpliced(to, 0, rows[at]!);
  },
  'fields of another type': (rows, random, { isEvent }) => {
    const at = pickAt(rows, random, isEvent);
    return at < 0
      ? rows
      : rows.with(at, { ...rows[at]!, line: JSON.stringify(withChange(toMessage(rows[at]!), random)) });
  },
  'a process that ends': (rows, random) => [
    ...rows.slice(0, 1 + random.below(rows.length)),
    { dir: 'out', line: null },
  ],
  'repeated lines': (rows, random, { isEvent }) =>
    rows.flatMap((row) => (isEvent(row) && random.below(10) === 0 ? [row, row] : [row])),
};

function toMessage({ line }: RecordedRow): Message {
  // The casts of this file: recordings have objects in their lines.
  return JSON.parse(line ?? '{}') as Message;
}

function pickAt(rows: Rows, random: RandomText, isWanted: (row: RecordedRow, at: number) => boolean): number {
  const wanted = rows.flatMap((row, at) => (row.line !== null && isWanted(row, at) ? [at] : []));
  return wanted.length === 0 ? -1 : random.pick(wanted);
}

/** Adds a field that no version has to some of the objects. */
function withUnknown(value: Json, random: RandomText): Json {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    isOpaque(name) ? field : withUnknown(field, random),
  ]);
  const added = random.below(3) === 0 ? { _unknown: { of: ['a', null, 1] } } : {};
  return { ...Object.fromEntries(fields), ...added } as Json;
}

/** Whether a field's content is shown unchanged, or has names of items as its keys. */
function isOpaque(name: string): boolean {
  return /^(arguments|input|rawInput|rawOutput|answers|metadata|result|tool_params|action|permissions|agentsStates|_meta|content|changes)$/.test(
    name,
  );
}

/** Replaces one field, at any depth, by a value of another type. */
function withChange(message: Json, random: RandomText): Json {
  const paths: (readonly (string | number)[])[] = [];
  collect(message, []);
  const path = random.pick(paths.length === 0 ? [[]] : paths);
  return replace(message, path, random.pick<Json>([null, 0, -1, 1e300, '', 'x', [], [null], {}, true, { type: 'x' }]));

  function collect(value: Json, at: readonly (string | number)[]): void {
    if (at.length > 0) paths.push(at);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) collect(item, [...at, index]);
    else if (typeof value === 'object' && value !== null)
      for (const [name, field] of Object.entries(value)) collect(field, [...at, name]);
  }
}

function replace(value: Json, [first, ...rest]: readonly (string | number)[], by: Json): Json {
  if (first === undefined) return by;
  if (Array.isArray(value)) return value.map((item, at) => (at === first ? replace(item, rest, by) : item)) as Json;
  return { ...(value as Message), [first]: replace((value as Message)[first] ?? null, rest, by) };
}
