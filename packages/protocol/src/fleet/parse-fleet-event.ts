import type { FleetEvent, FleetEventBase, KnownFleetEvent, UnknownEvent } from './events.ts';

/** What an event stream gives for one event; that of `SseDecoder` fits. */
export interface FleetFrame {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

/**
 * An event from the wire, checked once. Nothing makes it throw: what it does not know comes out as `unknown` with the
 * raw value, and fields that it does not know stay where they are.
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

/** Whether a value, such as a parsed line of an export, is an event of a known type with all that belongs to it. */
export function isFleetEvent(value: unknown): value is KnownFleetEvent {
  const fields = toRecord(value);
  const shape = typeof fields?.['type'] === 'string' ? shapes.get(fields['type']) : undefined;
  if (fields === undefined || shape === undefined || typeof fields['cursor'] !== 'string') return false;
  if (![fields['seq'], fields['ts']].every((field) => field === null || isNumber(field))) return false;
  const all = fields['type'] === 'error' && 'stream_id' in fields ? streamErrorShape : shape;
  return all.every(([field, kind]) => kind.is(fields[field]));
}

type Fields = Readonly<Record<string, unknown>>;

/** A way to read a field: whether it is right as it is, and what stands for it where the wire has none or null. */
interface FieldKind {
  readonly is: (value: unknown) => boolean;
  readonly name: string;
  /** Without it, a field that is missing makes the event unreadable. `undefined` leaves it out. */
  readonly missing?: null | 0 | undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const kinds = {
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
} satisfies Record<string, FieldKind>;

/** Names of fields and what they must be. */
type Shape = readonly (readonly [field: string, kind: FieldKind])[];
type ShapeTable = Readonly<Record<string, keyof typeof kinds>>;

const stream = { stream_id: 'count', depth: 'count', agent: 'text', thread_id: 'textOrNull' } as const;
const toolUse = { ...stream, tool: 'text', tool_use_id: 'text' } as const;
const usage = { input_tokens: 'count', output_tokens: 'count', cost_usd: 'numberIfAny' } as const;
const cache = { cache_read_tokens: 'countOrZero', cache_create_tokens: 'countOrZero' } as const;
const context = { context_tokens: 'countIfAny', context_window: 'countIfAny' } as const;
const place = { parent_stream_id: 'countOrNull', child_index: 'countOrNull' } as const;
const run = { request_id: 'text', session_id: 'text' } as const;
const fault = { message: 'text', code: 'text' } as const;

/** One line per event, with the fields that its type in events.ts has; the base is read apart. */
const shapeTables = {
  request_received: { ...run, agent: 'text', message: 'text' },
  stream_start: { ...stream, ...place, title: 'textIfAny', task: 'text', model: 'text' },
  agent_start: { ...stream, model: 'text', iteration: 'count' },
  request_queued: { ...stream, reason: 'text', ahead: 'count', until: 'numberIfAny' },
  request_admitted: stream,
  request_retrying: {
    ...stream,
    ...fault,
    reason: 'textIfAny',
    attempt: 'count',
    attempts_max: 'countIfAny',
    retry_at: 'number',
  },
  context_compacted: stream,
  settings_loaded: {
    ...stream,
    settings: 'text',
    instructions: 'texts',
    hooks: 'texts',
    agents: 'texts',
    skills: 'texts',
    rules: 'texts',
  },
  text: { ...stream, delta: 'text' },
  text_retract: { ...stream, from: 'count' },
  thinking: { ...stream, delta: 'text' },
  tool_start: { ...toolUse, input: 'value', awaits_result: 'flagIfAny' },
  tool_call: { ...toolUse, ok: 'flag', duration_ms: 'number', error: 'textIfAny' },
  file: { ...stream, path: 'text', size: 'count', encoding: 'text', content: 'text' },
  approval_required: { ...toolUse, input: 'value', kind: 'textIfAny', reason: 'textIfAny' },
  approval_resolved: {
    ...toolUse,
    input: 'value',
    result: 'textIfAny',
    by: 'textIfAny',
    rule: 'textIfAny',
    input_sha256: 'textIfAny',
  },
  sub_agent_response: { ...stream, content: 'text' },
  token_usage: { ...stream, ...usage, ...cache, ...context, model: 'text' },
  stream_end: { ...stream, ok: 'flag', stop_reason: 'text', error: 'textIfAny' },
  error: fault,
  done: {
    ...run,
    ...usage,
    ok: 'flag',
    content: 'text',
    files_bytes: 'count',
    duration_ms: 'number',
    error: 'textIfAny',
    error_code: 'textIfAny',
  },
  gap: { after: 'text', until: 'text', reason: 'textIfAny' },
  over: { reason: 'text' },
} satisfies Record<KnownFleetEvent['type'], ShapeTable>;

const shapes = new Map(Object.entries(shapeTables).map(([name, table]) => [name, toShape(table)]));
const streamErrorShape = toShape({ ...stream, ...fault });

function toShape(table: ShapeTable): Shape {
  return Object.entries({ session_id: 'textIfAny' as const, ...table }).map(([field, key]) => [field, kinds[key]]);
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined; // told by unreadable(), with the text
  }
}

function toRecord(value: unknown): Fields | undefined {
  // The cast is what the checks say: a JSON object has string keys and unknown values.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function unreadable({ event: name, data, id: cursor }: FleetFrame): UnknownEvent {
  return { cursor, seq: null, ts: null, type: 'unknown', name, value: data, problem: 'the data is no JSON object' };
}

/** On a stream of several sessions the data says where each of them is; the id says it of the whole stream. */
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

/** The event, or what is wrong with it. */
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
  // The cast is what the loop checked: each field of the shape, and there is one shape per type.
  return result as unknown as KnownFleetEvent;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
