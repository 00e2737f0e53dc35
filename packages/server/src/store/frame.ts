import type { JsonObject } from '../base/json/json.ts';
import { storeLimits } from './limits.ts';
import { storeError } from './store-errors.ts';

/** Which turn a frame belongs to: the run it is part of, its number in that run, and how deep it was delegated. */
export interface Turn {
  readonly streamId: number;
  readonly depth: number;
  readonly run: string;
}

/** A frame that the store has not numbered yet. */
export interface NewFrame {
  readonly threadId: string | null;
  readonly turn: Turn | null;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly type: string;
  /** A plain object, stored as JSON. */
  readonly payload: object;
  /** Marks the last frame of a group. The log marks the last frame of each write. */
  readonly isLast?: boolean;
  /** For a copy of a stored frame: its line, so that it is not serialised again. */
  readonly line?: Uint8Array;
}

/** A frame of a session's log. `seq` counts from 1 without gaps. */
export interface Frame extends Omit<NewFrame, 'isLast' | 'line'> {
  readonly sessionId: string;
  readonly seq: number;
  readonly payload: JsonObject;
}

/** A serialised frame: one line of JSON, independent of later changes of the object. */
export interface EncodedFrame {
  readonly bytes: Uint8Array;
  /** Data for the indexes of a store. Undefined for most frames. */
  readonly mark?: FrameMark | undefined;
}

/** Deltas are marked because reads can skip them, starts and ends of runs because they are indexed. */
export type FrameMark = 'delta' | RunMark;

/** Marks a frame as the start or end of a run, so that the store can index runs without parsing payloads. */
export interface RunMark {
  readonly run: string;
  readonly time: number;
  readonly isEnd: boolean;
}

/** The mark of a frame, which depends on its type. */
export function toMark({ type, turn, time }: Pick<NewFrame, 'type' | 'turn' | 'time'>): FrameMark | undefined {
  if (type.startsWith(DELTA)) return 'delta';
  const isEnd = type === 'run.ended';
  return turn !== null && (isEnd || type === 'run.started') ? { run: turn.run, time, isEnd } : undefined;
}

const DELTA = 'delta.';
const DELTA_BYTES = Buffer.from(`"${DELTA}`);
const RUN_BYTES = Buffer.from('"run.');

/** A committed frame. All readers share it and its bytes; it is parsed once, at the first access to its value. */
export class StoredFrame implements EncodedFrame {
  readonly kind = 'frame';
  readonly sessionId: string;
  readonly seq: number;
  readonly bytes: Uint8Array;
  #value: Frame | undefined;

  constructor(sessionId: string, seq: number, bytes: Uint8Array) {
    this.sessionId = sessionId;
    this.seq = seq;
    this.bytes = bytes;
  }

  /** The cursor behind this entry, like `lastSeq` of a pruned range. */
  get lastSeq(): number {
    return this.seq;
  }

  /** Whether this is the last frame of its write. Always false in logs of older versions. */
  get isLast(): boolean {
    return this.bytes.at(-2) === LAST_MARK;
  }

  get value(): Frame {
    this.#value ??= decodeFrame(this);
    return this.#value;
  }

  /** The type, without parsing the frame. */
  get type(): string {
    const start = findType(this.bytes) + 1;
    return toText(this.bytes, start, findQuote(this.bytes, start));
  }

  /** Whether this is a delta, without parsing the frame. */
  get isDelta(): boolean {
    return startsWith(this.bytes, findType(this.bytes), DELTA_BYTES);
  }

  /** The mark. Only frames that begin or end a run are parsed. */
  get mark(): FrameMark | undefined {
    const at = findType(this.bytes);
    if (startsWith(this.bytes, at, DELTA_BYTES)) return 'delta';
    return startsWith(this.bytes, at, RUN_BYTES) ? toMark(this.value) : undefined;
  }
}

/** A 1 behind the payload, in the last line of a write. All others end with the brace of their payload. */
const LAST_MARK = 0x31;

/** Deltas that were removed after their turn had ended. Their numbers are not reused, so that cursors keep their meaning. */
export interface PrunedRange {
  readonly kind: 'pruned';
  readonly sessionId: string;
  /** The `seq` of the first removed frame. */
  readonly seq: number;
  /** The `seq` of the last removed frame, which is the cursor behind the range. */
  readonly lastSeq: number;
}

/** An entry of a log. The next entry begins behind `lastSeq`. */
export type Entry = StoredFrame | PrunedRange;

/**
 * Serialises a frame, once for the disk and for all readers.
 *
 * The line is an array rather than an object: most frames are deltas, whose names would be longer than their text.
 */
export function encodeFrame(
  frame: NewFrame,
  bytesMax: number = storeLimits.frameBytesMax,
  isLast = frame.isLast ?? false,
): EncodedFrame {
  if (frame.line !== undefined && frame.isLast === isLast) return { bytes: frame.line, mark: toMark(frame) };
  const { threadId, turn, time, type, payload } = frame;
  const place = turn === null ? null : [turn.streamId, turn.depth, turn.run];
  const line = isLast ? [threadId, place, time, type, payload, 1] : [threadId, place, time, type, payload];
  const bytes = Buffer.from(JSON.stringify(line));
  // The limit does not depend on the position of the frame in its write.
  const length = bytes.length - (isLast ? ',1'.length : 0);
  if (length <= bytesMax) return { bytes, mark: toMark(frame) };
  throw storeError('frame_too_large', `a frame of type ${type} has ${length} bytes, and ${bytesMax} are allowed`);
}

type FrameLine = [string | null, [number, number, string] | null, number, string, JsonObject, 1?];

function decodeFrame({ sessionId, seq, bytes }: StoredFrame): Frame {
  const text = toText(bytes);
  const delta = decodeTextDelta(text, bytes);
  if (delta !== undefined) return { sessionId, seq, ...delta };
  // Only encodeFrame writes these lines, so the form is known.
  const line = JSON.parse(text) as FrameLine;
  const [threadId, place, time, type, payload] = line;
  return { sessionId, seq, threadId, turn: toTurn(place), time, type, payload };
}

function toTurn(place: FrameLine[1]): Turn | null {
  return place === null ? null : { streamId: place[0], depth: place[1], run: place[2] };
}

/**
 * Decodes a text delta without parsing its line: most frames are such deltas, and parsing them was most of the cost of a reader. A
 * line that is not exactly in the usual form is parsed like all others, and so is text with escapes.
 */
function decodeTextDelta(line: string, bytes: Uint8Array): Omit<Frame, 'sessionId' | 'seq'> | undefined {
  const typeAt = line.indexOf(TEXT_TYPE);
  if (typeAt === -1 || typeAt > PLACE_CHARS_MAX) return undefined;
  const idAt = typeAt + TEXT_TYPE.length;
  const idEnd = line.indexOf('"', idAt);
  const textAt = idEnd + TEXT_FIELD.length;
  const textEnd = line.indexOf('"', textAt);
  // Offsets in the text are those in the bytes if every character is ASCII.
  const isPlain = line.length === bytes.length && line.indexOf('\\', idAt) === -1;
  if (!isPlain || textEnd === -1 || !line.startsWith(TEXT_FIELD, idEnd) || !isLineEnd(line, textEnd)) return undefined;
  const timeAt = line.lastIndexOf(',', typeAt - 1);
  const place = findPlace(line.slice(0, timeAt));
  const time = Number(line.slice(timeAt + 1, typeAt));
  if (place === undefined || !Number.isSafeInteger(time)) return undefined;
  const { threadId, turn } = place;
  // A copy, because a slice would keep the whole line in memory.
  const payload = { id: toId(place, line.slice(idAt, idEnd)), text: toText(bytes, textAt, textEnd) };
  return { threadId, turn, time, type: 'delta.text', payload };
}

const TEXT_TYPE = ',"delta.text",{"id":"';
const TEXT_FIELD = '","text":"';
const PLACE_CHARS_MAX = 400;

function isLineEnd(line: string, at: number): boolean {
  const left = line.length - at;
  return (left === 3 && line.endsWith('"}]')) || (left === 5 && line.endsWith('"},1]'));
}

/** Thread and turn of a frame. Many frames share one object. */
interface FramePlace extends Pick<Frame, 'threadId' | 'turn'> {
  /** The block id of the newest delta. */
  id: string;
}

const places = new Map<string, FramePlace>();
const PLACES_MAX = 512;

/** Finds thread and turn by the beginning of a line, up to its time. Undefined if the line does not have the form of a delta. */
function findPlace(beginning: string): FramePlace | undefined {
  const known = places.get(beginning);
  if (known !== undefined) return known;
  try {
    const [threadId, place, ...more] = JSON.parse(`${beginning}]`) as [string | null, FrameLine[1], ...unknown[]];
    if (place === undefined || more.length > 0) return undefined;
    const found = { threadId, turn: toTurn(place), id: '' };
    if (places.size >= PLACES_MAX) places.clear();
    places.set(beginning, found);
    return found;
  } catch {
    // The type was found in the payload of another frame.
    return undefined;
  }
}

/** Deltas of one block share its id. */
function toId(place: FramePlace, id: string): string {
  if (place.id !== id) place.id = Buffer.from(id).toString();
  return place.id;
}

/** The offset of the type in a line: behind the thread, the turn and the time. */
function findType(bytes: Uint8Array): number {
  let at = 1;
  for (let value = 0; value < 3; value++) at = skipValue(bytes, at) + 1;
  return at;
}

/** The offset behind a value that is null, a number, a string or an array of those. */
function skipValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findQuote(bytes, at + 1);
    else if (byte === LIST) depth++;
    else if (byte === LIST_END) depth--;
    else if (byte === COMMA && depth === 0) return at;
  }
  return bytes.length;
}

function findQuote(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

const [QUOTE, BACKSLASH, COMMA, LIST, LIST_END] = Buffer.from('"\\,[]') as unknown as [
  number,
  number,
  number,
  number,
  number,
];

function startsWith(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

function toText(bytes: Uint8Array, start = 0, end = bytes.length): string {
  const { buffer, byteOffset, byteLength } = bytes;
  return (Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength)).toString('utf8', start, end);
}
