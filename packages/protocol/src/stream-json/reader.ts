import { BLOCK_BYTES, EXCERPT_CHARS_MAX, LINE_BYTES_MAX } from './limits.ts';
import type { LineIssue, LineItem, StreamJsonMessage } from './messages.ts';
import { parseJson } from './parse-line.ts';
import { type Platform, platform } from './platform.ts';

export interface ReaderOptions {
  /** Longest line that is parsed, in bytes. */
  lineBytesMax?: number;
  /** How bytes become text; by default the fastest way there is here. */
  platform?: Platform;
}

/** Takes what was read, line by line. */
export interface LineSink {
  message(message: StreamJsonMessage): void;
  issue(issue: LineIssue): void;
  /**
   * Asked for each line as bytes before it is parsed, where present. True: the sink has taken it.
   * The bytes are valid only during the call.
   */
  bytes?: ((bytes: Uint8Array, start: number, end: number) => boolean) | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const EMPTY = new Uint8Array(0);

/**
 * Bytes to messages. A pure push machine: feed chunks cut anywhere, get what they completed; no stream, no clock, no throw.
 *
 * Lines end at LF and nowhere else, since JSON strings may hold raw U+2028, U+2029 and U+0085. A line that cannot be read
 * is a value like any other, and the next one is read as if nothing had happened.
 */
export class StreamJsonReader {
  /** Bytes that were no UTF-8 and became U+FFFD. */
  invalidBytes = 0;
  readonly #lineBytesMax: number;
  readonly #platform: Platform;
  /**
   * A line that goes on in the next chunk: what is in the room comes last, before it what no longer fitted. It is joined once,
   * at its end: a room that grows would have to be copied, and a list of the pieces themselves would take hundreds of bytes
   * for each where they come byte by byte. The room is kept for the next line. Over the limit bytes are only counted.
   */
  #room: Uint8Array = EMPTY;
  #roomBytes = 0;
  #before: Uint8Array[] = [];
  #restBytes = 0;
  /** Offset in the stream of the first byte of the line that is being read. */
  #offset = 0;

  constructor(options: ReaderOptions = {}) {
    this.#lineBytesMax = options.lineBytesMax ?? LINE_BYTES_MAX;
    this.#platform = options.platform ?? platform;
  }

  /** Takes the next bytes and returns what the lines that ended in them hold. */
  push(chunk: Uint8Array): LineItem[] {
    return collect((sink) => this.read(chunk, sink));
  }

  /** The stream is over: returns what its last line holds if that had no LF. The reader can be used for a next stream. */
  end(): LineItem[] {
    return collect((sink) => this.readEnd(sink));
  }

  /** As `push`, into a sink: what is read is used at once and needs not be kept. */
  read(chunk: Uint8Array, sink: LineSink): void {
    const bytes = this.#platform.wrap(chunk);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      if (this.#restBytes > 0) this.#lastPiece(bytes.subarray(start, end), sink);
      else this.#line(bytes, start, end, sink);
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  readEnd(sink: LineSink): void {
    if (this.#restBytes > 0) this.#lastPiece(EMPTY, sink);
    this.#offset = 0;
  }

  #line(bytes: Uint8Array, lineStart: number, lineEnd: number, sink: LineSink): void {
    const offset = this.#offset;
    const length = lineEnd - lineStart;
    this.#offset += length + 1;
    const limit = this.#lineBytesMax;
    if (length > limit) return sink.issue({ type: 'oversize', offset, length, limit });
    const bom = offset === 0 && startsWithBom(bytes, lineStart) ? 3 : 0;
    const start = lineStart + bom;
    const end = lineEnd > start && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (start === end || sink.bytes?.(bytes, start, end)) return;
    const text = this.#platform.text(bytes, start, end);
    // V8 answers at once for the many one-byte strings, which cannot hold the character.
    if (text.indexOf('\ufffd') !== -1) this.invalidBytes += countReplaced(text, bytes.subarray(start, end));
    const message = parseJson(text);
    if (typeof message === 'object') sink.message(message);
    else if (text.trim()) sink.issue(malformed(message, text, offset + bom, end - start));
  }

  #keep(piece: Uint8Array): void {
    this.#restBytes += piece.length;
    if (this.#room === EMPTY) this.#room = this.#platform.wrap(new Uint8Array(BLOCK_BYTES));
    if (this.#restBytes > this.#lineBytesMax) this.#before = [];
    else if (this.#roomBytes + piece.length <= BLOCK_BYTES) {
      this.#room.set(piece, this.#roomBytes);
      this.#roomBytes += piece.length;
      return;
      // Not `slice`, which for Node's Buffer is a view: the owner of a chunk may use it again.
    } else this.#before.push(new Uint8Array(this.#room.subarray(0, this.#roomBytes)), new Uint8Array(piece));
    this.#roomBytes = 0;
  }

  /** A line that began in an earlier chunk is complete. */
  #lastPiece(last: Uint8Array, sink: LineSink): void {
    this.#keep(last);
    const length = this.#restBytes;
    const line = this.#before.length === 0 ? this.#room : this.#join(length);
    this.#before = [];
    this.#roomBytes = this.#restBytes = 0;
    this.#line(line, 0, length, sink);
  }

  #join(length: number): Uint8Array {
    const line = this.#platform.wrap(new Uint8Array(length));
    let at = 0;
    for (const part of [...this.#before, this.#room.subarray(0, this.#roomBytes)]) {
      line.set(part, at);
      at += part.length;
    }
    return line;
  }
}

function collect(read: (sink: LineSink) => void): LineItem[] {
  const items: LineItem[] = [];
  read({
    message: (message) => items.push({ type: 'message', message }),
    issue: (issue) => items.push(issue),
  });
  return items;
}

function malformed(reason: string, line: string, offset: number, length: number): LineIssue {
  const max = EXCERPT_CHARS_MAX;
  return { type: 'malformed', offset, length, reason: reason.slice(0, max), excerpt: line.slice(0, max) };
}

function startsWithBom(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/** U+FFFD in the text that did not stand in the bytes as such (EF BF BD). */
function countReplaced(text: string, bytes: Uint8Array): number {
  let count = text.split('\ufffd').length - 1;
  bytes.forEach((byte, at) => {
    if (byte === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count--;
  });
  return count;
}
