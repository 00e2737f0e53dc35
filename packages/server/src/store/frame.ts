import type { JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
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
}

/** Something that happened in a session. `seq` counts from 1 without gaps. */
export interface Frame extends Omit<NewFrame, 'isLast'> {
  readonly sessionId: string;
  readonly seq: number;
  readonly payload: JsonObject;
}

/** A frame as it is kept: one line of JSON that no later change of the object can reach. */
export interface EncodedFrame {
  readonly bytes: Uint8Array;
}

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
  bytesMax: number = limits.frameBytesMax,
  isLast = frame.isLast ?? false,
): EncodedFrame {
  const { threadId, turn, time, type, payload } = frame;
  const place = turn === null ? null : [turn.streamId, turn.depth, turn.run];
  const line = isLast ? [threadId, place, time, type, payload, 1] : [threadId, place, time, type, payload];
  const bytes = Buffer.from(JSON.stringify(line));
  // Whether it fits does not depend on where it stands in its write.
  const length = bytes.length - (isLast ? ',1'.length : 0);
  if (length <= bytesMax) return { bytes };
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

function toText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}
