import type { JsonObject } from '../base/json/json.ts';
import { storeLimits } from './limits.ts';
import { storeError } from './store-errors.ts';

/** Which turn a frame belongs to: the run it is part of, its number in that run, and how deep it was delegated. */
export interface Turn {
  readonly streamId: number;
  readonly depth: number;
  readonly run: string;
}

/** Something that happened, before the store has given it its place. */
export interface NewFrame {
  readonly threadId: string | null;
  readonly turn: Turn | null;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly type: string;
  /** A plain object. What JSON cannot hold is not kept. */
  readonly payload: object;
  /** The last of those that belong together. The log says so of the last one of a write. */
  readonly isLast?: boolean;
  /** The line of the stored frame that this one copies, so that it is not serialised again. */
  readonly line?: Uint8Array;
}

/** Something that happened in a session. `seq` counts from 1 without gaps. */
export interface Frame extends Omit<NewFrame, 'isLast' | 'line'> {
  readonly sessionId: string;
  readonly seq: number;
  readonly payload: JsonObject;
}

/** A frame as it is kept: one line of JSON that no later change of the object can reach. */
export interface EncodedFrame {
  readonly bytes: Uint8Array;
  /** What the indexes of a store need to know. Undefined for most frames. */
  readonly mark?: FrameMark | undefined;
}

/** Reads can skip deltas, and runs are indexed. */
export type FrameMark = 'delta' | RunMark;

/** Marks a frame as the start or end of a run, so that the store can index runs without parsing payloads. */
export interface RunMark {
  readonly run: string;
  readonly time: number;
  readonly isEnd: boolean;
}

/** The mark of a frame, by its type. */
export function toMark({ type, turn, time }: Pick<NewFrame, 'type' | 'turn' | 'time'>): FrameMark | undefined {
  if (type.startsWith(DELTA)) return 'delta';
  const isEnd = type === 'run.ended';
  return turn !== null && (isEnd || type === 'run.started') ? { run: turn.run, time, isEnd } : undefined;
}

const DELTA = 'delta.';
const DELTA_BYTES = Buffer.from(`"${DELTA}`);
const RUN_BYTES = Buffer.from('"run.');

/** A committed frame. All readers share it and its bytes; it is parsed once, when the first one looks inside. */
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

  /** The cursor behind this entry, as a pruned range has one. */
  get lastSeq(): number {
    return this.seq;
  }

  /** Whether a write ended with it. In logs that are older than this, it says so of none. */
  get isLast(): boolean {
    return this.bytes.at(-2) === LAST_MARK;
  }

  get value(): Frame {
    this.#value ??= decodeFrame(this);
    return this.#value;
  }

  /** The frame is not parsed for it. */
  get type(): string {
    const start = findType(this.bytes) + 1;
    return toText(this.bytes.subarray(start, findQuote(this.bytes, start)));
  }

  /** Whether it is a delta. The frame is not parsed for that. */
  get isDelta(): boolean {
    return startsWith(this.bytes, findType(this.bytes), DELTA_BYTES);
  }

  /** Only frames that begin or end a run are parsed. */
  get mark(): FrameMark | undefined {
    const at = findType(this.bytes);
    if (startsWith(this.bytes, at, DELTA_BYTES)) return 'delta';
    return startsWith(this.bytes, at, RUN_BYTES) ? toMark(this.value) : undefined;
  }
}

/** A 1 behind the payload, in the last line of a write. All others end with the brace of their payload. */
const LAST_MARK = 0x31;

/** Deltas that were removed after their turn had ended. Their numbers stay taken: a cursor never means something else. */
export interface PrunedRange {
  readonly kind: 'pruned';
  readonly sessionId: string;
  /** The first one removed. */
  readonly seq: number;
  /** The last one removed, and the cursor behind the range. */
  readonly lastSeq: number;
}

/** What reading a log gives. `lastSeq` of one entry is where the next begins. */
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
  // Whether it fits does not depend on where it stands in its write.
  const length = bytes.length - (isLast ? ',1'.length : 0);
  if (length <= bytesMax) return { bytes, mark: toMark(frame) };
  throw storeError('frame_too_large', `a frame of type ${type} has ${length} bytes, and ${bytesMax} are allowed`);
}

type FrameLine = [string | null, [number, number, string] | null, number, string, JsonObject, 1?];

function decodeFrame({ sessionId, seq, bytes }: StoredFrame): Frame {
  // Only encodeFrame writes these lines, so the form is known.
  const line = JSON.parse(toText(bytes)) as FrameLine;
  const [threadId, place, time, type, payload] = line;
  const turn = place === null ? null : { streamId: place[0], depth: place[1], run: place[2] };
  return { sessionId, seq, threadId, turn, time, type, payload };
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

function toText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}
