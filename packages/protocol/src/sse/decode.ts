import { ByteBuffer } from './byte-buffer.ts';
import { limits } from './limits.ts';

/** One item of an event stream. */
export type SseItem =
  | SseEvent
  /** A comment line, also inside an event. Heartbeats are comments. */
  | { type: 'comment'; text: string }
  /** An event (or one comment line) over the limit was dropped; reading continues after it. */
  | { type: 'oversize'; bytes: number; limit: number }
  /** The stream ended inside an event, which is dropped as the standard demands. Resume from `lastEventId`. */
  | { type: 'cut'; bytes: number };

/** An event. */
export interface SseEvent {
  type: 'event';
  /** The name of the event; `message` if the stream has none. */
  event: string;
  data: string;
  /** The last id up to and including this event; '' if there was none. */
  id: string;
}

/** Options of a decoder. */
export interface SseDecoderOptions {
  eventBytesMax?: number;
  /** The last event id of an earlier connection. */
  lastEventId?: string;
}

/**
 * Decodes the bytes of a `text/event-stream` into items, by the algorithm of the WHATWG standard. Chunks may be cut anywhere.
 *
 * After `end()` the decoder is ready for the next connection of the same stream: it keeps `lastEventId` and `retryMs`.
 *
 * @example
 * const decoder = new SseDecoder();
 * for await (const chunk of response.body) for (const item of decoder.push(chunk)) handle(item);
 * for (const item of decoder.end()) handle(item);
 */
export class SseDecoder {
  /** The `Last-Event-ID` for the next connection. Set at the blank line that ends an event, not before. */
  lastEventId: string;
  /** The wait before reconnecting that the server asked for, at most `limits.retryMsMax`. */
  retryMs: number | undefined;

  readonly #bytesMax: number;
  /** First bytes of the stream while they may still be a byte order mark; undefined once that is settled. */
  #head: Uint8Array | undefined = new Uint8Array(0);
  /** Whether the last byte was CR: an LF that follows belongs to it. */
  #afterCr = false;

  /** The unfinished line: its bytes, unless `#dropping` says that they are over the limit, and how many there were. */
  readonly #line = new ByteBuffer();
  #lineBytes = 0;
  #dropping: 'comment' | 'event' | undefined;

  /** The unfinished event. Data is kept as bytes and decoded once; cutting at LF never splits a character. */
  readonly #data = new ByteBuffer();
  #hasData = false;
  #name = '';
  #id: string;
  #eventBytes = 0;
  /** Whether the event is over the limit: its bytes are dropped until its end. */
  #skipping = false;

  constructor(options: SseDecoderOptions = {}) {
    this.#bytesMax = options.eventBytesMax ?? limits.eventBytesMax;
    this.lastEventId = options.lastEventId ?? '';
    this.#id = this.lastEventId;
  }

  /** The items that a chunk completes. */
  push(chunk: Uint8Array): SseItem[] {
    const items: SseItem[] = [];
    const bytes = this.#head === undefined ? chunk : this.#withoutMark(this.#head, chunk);
    let at = 0;
    if (this.#afterCr && bytes.length > 0) {
      if (bytes[0] === LF) at = 1;
      this.#afterCr = false;
    }
    // Both positions are searched ahead and kept until passed, so that each byte is read once per kind of ending.
    let lf = indexFrom(bytes, LF, at);
    let cr = indexFrom(bytes, CR, at);
    while (at < bytes.length) {
      if (lf < at) lf = indexFrom(bytes, LF, at);
      if (cr < at) cr = indexFrom(bytes, CR, at);
      const end = Math.min(lf, cr);
      if (end === bytes.length) {
        this.#carry(bytes, at);
        break;
      }
      this.#endLine(bytes, at, end, items);
      at = end + 1;
      if (end !== cr) continue;
      if (at === bytes.length) this.#afterCr = true;
      else if (bytes[at] === LF) at++;
    }
    return items;
  }

  end(): SseItem[] {
    if (this.#head !== undefined) this.#carry(this.#head, 0);
    const items: SseItem[] = [];
    const limit = this.#bytesMax;
    if (this.#dropping === 'comment') {
      items.push({ type: 'oversize', bytes: this.#lineBytes, limit });
      this.#lineBytes = 0;
    }
    const bytes = this.#eventBytes + this.#lineBytes;
    if (this.#skipping || this.#dropping === 'event') items.push({ type: 'oversize', bytes, limit });
    else if (bytes > 0) items.push({ type: 'cut', bytes });

    this.#resetLine();
    this.#resetEvent();
    this.#id = this.lastEventId;
    this.#head = new Uint8Array(0);
    this.#afterCr = false;
    return items;
  }

  /** The stream's first bytes, once it is clear whether they are a byte order mark; nothing until then. */
  #withoutMark(head: Uint8Array, chunk: Uint8Array): Uint8Array {
    const bytes = head.length === 0 ? chunk : joined(head, chunk);
    let same = 0;
    while (same < bytes.length && same < MARK.length && bytes[same] === MARK[same]) same++;
    if (same === bytes.length && same < MARK.length) {
      this.#head = bytes.slice();
      return NOTHING;
    }
    this.#head = undefined;
    return same === MARK.length ? bytes.subarray(MARK.length) : bytes;
  }

  #carry(bytes: Uint8Array, from: number): void {
    if (this.#dropping === undefined && bytes.length > from) {
      const comment = this.#isComment(bytes, from);
      if (this.#fits(comment, this.#lineBytes + bytes.length - from)) {
        this.#line.append(bytes, from, bytes.length);
      } else {
        this.#dropping = comment ? 'comment' : 'event';
        this.#line.clear();
      }
    }
    this.#lineBytes += bytes.length - from;
  }

  #endLine(bytes: Uint8Array, from: number, to: number, items: SseItem[]): void {
    const length = this.#lineBytes + to - from;
    if (length === 0) {
      this.#endEvent(items);
      return;
    }
    const comment = this.#dropping === undefined ? this.#isComment(bytes, from) : this.#dropping === 'comment';
    if (this.#dropping !== undefined || !this.#fits(comment, length)) {
      if (comment) items.push({ type: 'oversize', bytes: length, limit: this.#bytesMax });
      else this.#skip(length);
    } else if (this.#lineBytes === 0) {
      this.#take(comment, bytes, from, to, items);
    } else {
      this.#line.append(bytes, from, to);
      this.#take(comment, this.#line.view(), 0, length, items);
    }
    this.#resetLine();
  }

  #isComment(bytes: Uint8Array, from: number): boolean {
    return (this.#line.length > 0 ? this.#line.view()[0] : bytes[from]) === COLON;
  }

  // A comment is not kept, so the limit applies to it alone, and a long comment does not drop the event around it.
  #fits(comment: boolean, length: number): boolean {
    return length <= (comment ? this.#bytesMax : this.#bytesMax - this.#eventBytes);
  }

  #skip(length: number): void {
    this.#skipping = true;
    this.#eventBytes += length;
    this.#data.clear();
  }

  #take(comment: boolean, bytes: Uint8Array, start: number, end: number, items: SseItem[]): void {
    if (comment) {
      items.push({ type: 'comment', text: valueText(bytes, start, end) });
      return;
    }
    this.#eventBytes += end - start;
    if (isField('data', bytes, start, end)) {
      if (this.#hasData) this.#data.appendByte(LF);
      this.#hasData = true;
      this.#data.append(bytes, valueStart(bytes, start + 4, end), end);
    } else if (isField('event', bytes, start, end)) {
      this.#name = valueText(bytes, start + 5, end);
    } else if (isField('id', bytes, start, end)) {
      const id = valueText(bytes, start + 2, end);
      if (!id.includes('\0')) this.#id = id;
    } else if (isField('retry', bytes, start, end)) {
      const digits = valueText(bytes, start + 5, end);
      if (/^[0-9]+$/.test(digits)) this.retryMs = Math.min(Number(digits), limits.retryMsMax);
    }
  }

  // An oversize event's id counts too if it came before the limit: a reader that resumed before it would meet it again and again.
  #endEvent(items: SseItem[]): void {
    this.lastEventId = this.#id;
    if (this.#skipping) {
      items.push({ type: 'oversize', bytes: this.#eventBytes, limit: this.#bytesMax });
    } else if (this.#hasData) {
      const data = utf8.decode(this.#data.view());
      items.push({ type: 'event', event: this.#name === '' ? 'message' : this.#name, data, id: this.lastEventId });
    }
    this.#resetEvent();
  }

  #resetLine(): void {
    this.#line.clear();
    this.#lineBytes = 0;
    this.#dropping = undefined;
  }

  #resetEvent(): void {
    this.#data.clear();
    this.#hasData = false;
    this.#name = '';
    this.#eventBytes = 0;
    this.#skipping = false;
  }
}

const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const MARK = [0xef, 0xbb, 0xbf];
const NOTHING = new Uint8Array(0);
// The decoder keeps byte order marks: `#withoutMark` removes the mark of the stream, and a mark inside a value is part of the value.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Like indexOf, but returns the length if the byte is not found. */
function indexFrom(bytes: Uint8Array, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from);
  return index === -1 ? bytes.length : index;
}

// Compared name by name instead of looking for the colon: a line without one would be searched to the end of the chunk.
function isField(name: string, bytes: Uint8Array, start: number, end: number): boolean {
  const colon = start + name.length;
  if (colon > end || (colon < end && bytes[colon] !== COLON)) return false;
  for (let index = 0; index < name.length; index++) {
    if (bytes[start + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** Where the value begins, given the place of the colon, which a line without value lacks. */
function valueStart(bytes: Uint8Array, colon: number, end: number): number {
  if (colon >= end) return end;
  return colon + 1 < end && bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
}

function valueText(bytes: Uint8Array, colon: number, end: number): string {
  return utf8.decode(bytes.subarray(valueStart(bytes, colon, end), end));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
