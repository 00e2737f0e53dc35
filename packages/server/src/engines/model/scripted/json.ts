import { Stride } from '../../../base/in-slices.ts';
import type { Json, JsonObject } from '../../../base/json/json.ts';
import { InvalidInput } from './script/invalid-input.ts';
import { join } from './script/read-fields.ts';

export type { Json, JsonObject };

/** A text in pieces, which do not split characters. Joining them would take as long as writing them. */
export interface TextPieces {
  /** Characters of all pieces together. */
  readonly chars: number;
  readonly pieces: readonly string[];
}

/** Checks that a value is JSON: YAML can also contain infinities, and both can be nested without limit. */
export function* readJson(value: unknown, path: string, depthMax: number): Generator<void, Json> {
  const stride = new Stride();
  yield* check(value, () => path, depthMax);
  // The cast: the value was checked.
  return value as Json;

  /** Checks one value. The path is built only for errors: for most values it is longer than the value. */
  function* check(item: unknown, toPath: () => string, depth: number): Generator<void, void> {
    if (isScalar(item)) return;
    if (typeof item !== 'object' || item === null) {
      throw new InvalidInput(toPath(), `must be JSON, got ${typeof item === 'number' ? item : typeof item}`);
    }
    if (depth === 0) throw new InvalidInput(toPath(), 'is nested too deep');
    const isArray = Array.isArray(item);
    const prototype: unknown = Object.getPrototypeOf(item);
    if (!isArray && prototype !== Object.prototype && prototype !== null)
      throw new InvalidInput(toPath(), 'must be JSON');
    const parts: Iterable<[string | number, unknown]> = isArray ? item.entries() : Object.entries(item);
    for (const [key, part] of parts) {
      // Most values are not containers, and a generator for each would take longer than the check.
      if (!isScalar(part)) {
        yield* check(part, () => (isArray ? `${toPath()}[${key}]` : join(toPath(), String(key))), depth - 1);
      }
      if (stride.isOver()) yield;
    }
  }
}

function isScalar(value: unknown): boolean {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return true;
  return typeof value === 'number' && Number.isFinite(value);
}

/** Options of writing canonical JSON. */
export interface CanonicalOptions {
  /**
   * Whether differences are removed that do not change a conversation: clients move their cache markers from message to message, and
   * write a single text in two ways.
   */
  readonly isComparable?: boolean;
}

/**
 * JSON text that is the same for the same value: keys sorted, so that a conversation that was kept in a database keeps
 * its ids.
 */
export function* writeCanonical(
  value: Json,
  { isComparable = false }: CanonicalOptions = {},
): Generator<void, TextPieces> {
  const stride = new Stride();
  const pieces: string[] = [];
  let chars = 0;
  let text = '';
  yield* write(value);
  flush();
  return { chars, pieces };

  function* write(item: Json, key = ''): Generator<void, void> {
    if (typeof item === 'string') yield* writeText(item, key);
    else if (item === null || typeof item !== 'object') add(JSON.stringify(item));
    else if (isList(item)) yield* writeList(item);
    else yield* writeObject(item);
  }

  function* writeText(item: string, key: string): Generator<void, void> {
    const isBlock = isComparable && key === 'content';
    if (isBlock) add('[{"text":');
    if (item.length <= PIECE_CHARS) add(JSON.stringify(item));
    else {
      add('"');
      for (const piece of toPieces(item)) {
        add(JSON.stringify(piece).slice(1, -1));
        yield;
      }
      add('"');
    }
    if (isBlock) add(',"type":"text"}]');
  }

  function* writeList(items: readonly Json[]): Generator<void, void> {
    add('[');
    for (const [index, item] of items.entries()) {
      if (index > 0) add(',');
      if (isShort(item)) add(JSON.stringify(item));
      else yield* write(item);
      if (stride.isOver(lengthOf(item))) yield;
    }
    add(']');
  }

  function* writeObject(object: JsonObject): Generator<void, void> {
    add('{');
    let isFirst = true;
    for (const key of yield* sortKeys(Object.keys(object))) {
      if (isComparable && key === 'cache_control') continue;
      add(`${isFirst ? '' : ','}${JSON.stringify(key)}:`);
      isFirst = false;
      const item = object[key] ?? null;
      if (isShort(item) && key !== 'content') add(JSON.stringify(item));
      else yield* write(item, key);
      if (stride.isOver(lengthOf(item))) yield;
    }
    add('}');
  }

  function add(more: string): void {
    text += more;
    if (text.length >= PIECE_CHARS) flush();
  }

  function flush(): void {
    chars += text.length;
    pieces.push(text);
    text = '';
  }
}

/** Characters that are written or hashed at a time: about 100 µs. */
const PIECE_CHARS = 64 * 1024;

/** Whether a value is written without a generator, which takes longer than most values. */
function isShort(value: Json): boolean {
  return value === null || typeof value !== 'object' ? lengthOf(value) <= PIECE_CHARS : false;
}

function lengthOf(value: Json): number {
  return typeof value === 'string' ? value.length : 0;
}

function* toPieces(text: string): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + PIECE_CHARS);
    // Half a surrogate pair would be written as an escape, which changes the text.
    const isCut = end < text.length && text.codePointAt(end - 1)! > 0xffff;
    const next = isCut ? end + 1 : end;
    yield text.slice(at, next);
    at = next;
  }
}

/** Sorts as `sort` does, which takes 40 ms for as many keys as a request may have. */
function* sortKeys(keys: string[]): Generator<void, string[]> {
  if (keys.length <= SORTED_AT_ONCE) return keys.sort();
  const middle = keys.length >> 1;
  const left = yield* sortKeys(keys.slice(0, middle));
  const right = yield* sortKeys(keys.slice(middle));
  yield;
  const sorted: string[] = [];
  for (let [at, other] = [0, 0]; sorted.length < keys.length; ) {
    const isLeft = other === right.length || (at < left.length && left[at]! < right[other]!);
    sorted.push(isLeft ? left[at++]! : right[other++]!);
    if (sorted.length % 1_024 === 0) yield;
  }
  return sorted;
}

const SORTED_AT_ONCE = 512;

/** The value with all its strings replaced, except keys. */
export function* mapStrings(value: Json, replace: (text: string) => Generator<void, string>): Generator<void, Json> {
  const stride = new Stride();
  return yield* map(value);

  function* map(item: Json): Generator<void, Json> {
    if (stride.isOver()) yield;
    if (typeof item === 'string') return yield* replace(item);
    if (item === null || typeof item !== 'object') return item;
    if (isList(item)) {
      const items: Json[] = [];
      for (const each of item) items.push(yield* map(each));
      return items;
    }
    const entries: [string, Json][] = [];
    for (const [key, each] of Object.entries(item)) entries.push([key, yield* map(each)]);
    return Object.fromEntries(entries);
  }
}

// Array.isArray does not narrow read-only lists.
function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
