import { eventFields, type FieldKind } from './event-fields.ts';
import type { FleetEventBase } from './event-base.ts';
import type { FleetEvent, KnownFleetEvent, UnknownEvent } from './events.ts';

/** One event of an SSE stream, e.g. of `SseDecoder`. */
export interface FleetFrame {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

/**
 * Parses and checks one event from the wire. Never throws: an event that it does not know becomes `unknown` with the
 * raw value, and unknown fields are kept.
 *
 * @example
 * for await (const item of openEvents(url)) if (item.type === 'event') state = foldSlots(state, parseFleetEvent(item));
 */
export function parseFleetEvent(frame: FleetFrame): FleetEvent {
  const fields = toRecord(parseJson(frame.data));
  if (fields === undefined) return unreadable(frame);
  const base = toBase(fields, frame.id);
  const shape = shapes.get(frame.event);
  if (shape === undefined) return { ...base, type: 'unknown', name: frame.event, value: fields };
  const known = toKnown(fields, frame.event, shape, base);
  if (typeof known !== 'string') return known;
  return { ...base, type: 'unknown', name: frame.event, value: fields, problem: known };
}

/** Whether a value, such as a parsed line of an export, is an event of a known type with all its fields. */
export function isFleetEvent(value: unknown): value is KnownFleetEvent {
  const fields = toRecord(value);
  const shape = typeof fields?.['type'] === 'string' ? shapes.get(fields['type']) : undefined;
  if (fields === undefined || shape === undefined || typeof fields['cursor'] !== 'string') return false;
  if (![fields['seq'], fields['ts']].every((field) => field === null || isNumber(field))) return false;
  const all = fields['type'] === 'error' && 'stream_id' in fields ? streamErrorShape : shape;
  return all.every(([field, kind]) => kind.is(fields[field]));
}

type Fields = Readonly<Record<string, unknown>>;

/** How a field is checked, and what replaces a missing or null value. */
interface FieldCheck {
  readonly is: (value: unknown) => boolean;
  readonly name: string;
  /** Without this key, a missing field makes the event unreadable. `undefined` omits the field. */
  readonly missing?: null | 0 | undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isFile = (value: unknown): boolean => {
  const file = toRecord(value);
  return file !== undefined && isText(file['path']) && isText(file['status']);
};

const isTask = (value: unknown): boolean => {
  const task = toRecord(value);
  return task !== undefined && isText(task['text']) && isText(task['status']);
};

const checks: Readonly<Record<FieldKind, FieldCheck>> = {
  text: { is: isText, name: 'text' },
  number: { is: isNumber, name: 'a number' },
  count: { is: isCount, name: 'a whole number from 0' },
  flag: { is: (value) => typeof value === 'boolean', name: 'true or false' },
  flagIfAny: {
    is: (value) => value === undefined || typeof value === 'boolean',
    name: 'true or false',
    missing: undefined,
  },
  texts: { is: (value) => Array.isArray(value) && value.every(isText), name: 'a list of texts' },
  files: { is: (value) => Array.isArray(value) && value.every(isFile), name: 'a list of files' },
  tasks: { is: (value) => Array.isArray(value) && value.every(isTask), name: 'a list of tasks' },
  value: { is: (value) => value !== undefined, name: 'there', missing: null },
  textIfAny: { is: (value) => value === undefined || isText(value), name: 'text', missing: undefined },
  countIfAny: {
    is: (value) => value === undefined || isCount(value),
    name: 'a whole number from 0',
    missing: undefined,
  },
  numberIfAny: { is: (value) => value === undefined || isNumber(value), name: 'a number', missing: undefined },
  textOrNull: { is: (value) => value === null || isText(value), name: 'text', missing: null },
  countOrNull: { is: (value) => value === null || isCount(value), name: 'a whole number from 0', missing: null },
  countOrZero: { is: isCount, name: 'a whole number from 0', missing: 0 },
};

/** Names of fields and the check of each. */
type Shape = readonly (readonly [field: string, check: FieldCheck])[];

const shapes = new Map(Object.entries(eventFields).map(([name, table]) => [name, toShape(table)]));
/** An error of a turn also has the fields of every stream event, which are all that `request_admitted` has. */
const streamErrorShape = toShape({ ...eventFields.request_admitted, ...eventFields.error });

function toShape(table: Readonly<Record<string, FieldKind>>): Shape {
  return Object.entries({ session_id: 'textIfAny' as const, ...table }).map(([field, key]) => [field, checks[key]]);
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined; // unreadable() reports it, with the text
  }
}

function toRecord(value: unknown): Fields | undefined {
  // The cast: the checks ensure a JSON object, which has string keys and unknown values.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function unreadable({ event: name, data, id: cursor }: FleetFrame): UnknownEvent {
  return { cursor, seq: null, ts: null, type: 'unknown', name, value: data, problem: 'the data is not a JSON object' };
}

/** The base fields. On a stream of several sessions, the data has the cursor of the session, and the id is the cursor of the whole stream. */
function toBase(fields: Fields, id: string): FleetEventBase {
  const { session_id, seq } = fields;
  const cursor = typeof fields['cursor'] === 'string' ? fields['cursor'] : id;
  const base = { cursor, seq: isNumber(seq) ? seq : null, ts: toTime(fields['ts']) };
  return typeof session_id === 'string' ? { ...base, session_id } : base;
}

/** Milliseconds since 1970, also from an ISO date. */
function toTime(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return isNumber(time) ? time : null;
}

/** The event, or the problem with it. */
function toKnown(fields: Fields, name: string, shape: Shape, base: FleetEventBase): KnownFleetEvent | string {
  const isOfStream = name === 'error' && !isMissing(fields['stream_id']);
  const result: Record<string, unknown> = { ...fields, ...base, type: name };
  if (name === 'error' && !isOfStream) delete result['stream_id'];
  for (const [field, kind] of isOfStream ? streamErrorShape : shape) {
    const value = fields[field];
    if (!isMissing(value)) {
      if (!kind.is(value)) return `${field} is not ${kind.name}`;
      continue;
    }
    if (!('missing' in kind)) return `${field} is missing`;
    if (kind.missing !== undefined) result[field] = kind.missing;
    else if (field in result) delete result[field];
  }
  // The cast: the loop checked each field of the shape, and there is one shape per type.
  return result as unknown as KnownFleetEvent;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
