import { BLOCK_BYTES, EXCERPT_CHARS_MAX, LINE_BYTES_MAX } from '../base/limits.ts';
import type { LineIssue, LineItem, StreamJsonMessage } from '../wire/messages.ts';
import { parseJson, withoutBom } from './parse-line.ts';
import { type Platform, platform } from './platform.ts';
import { beginning } from '../base/text-mark.ts';

/** Options of a reader. */
export interface ReaderOptions {
  /** Bytes of the longest line that is parsed. */
  lineBytesMax?: number;
  /** The conversion of bytes to text; by default the fastest one on this platform. */
  platform?: Platform;
}

/** Receives what was read, line by line. */
export interface LineSink {
  message(message: StreamJsonMessage): void;
  issue(issue: LineIssue): void;
  /**
   * Asked for each line as bytes before it is parsed, where present: all but its LF. True: the sink has taken it.
   * The bytes are valid only during the call.
   */
  bytes?: ((bytes: Uint8Array, start: number, end: number) => boolean) | undefined;
}

const LF = 0x0a;
const EMPTY = new Uint8Array(0);
const BOM_BYTES = 3;

/**
 * Bytes to messages. A pure push machine: feed chunks cut anywhere, get what they completed; no stream, no clock, no throw.
 *
 * Lines end at LF and nowhere else, since JSON strings may hold raw U+2028, U+2029 and U+0085. A line that cannot be read
 * is a value like any other, and the next one is read as if nothing had happened.
 */
export class StreamJsonReader {
  /** How many invalid UTF-8 sequences became U+FFFD. */
  invalidBytes = 0;
  readonly #lineBytesMax: number;
  readonly #platform: Platform;
  /**
   * A line that goes on in the next chunk: the text of what no longer fitted into the room, and behind it what is in the room,
   * which is kept for the next line. Over the limit bytes are only counted.
   */
  #before = '';
  #room: Uint8Array = EMPTY;
  #roomBytes = 0;
  #restBytes = 0;
  /** `invalidBytes` where this line began. */
  #invalidBefore = 0;
  /** Offset in the stream of the first byte of the line that is being read. */
  #offset = 0;

  constructor(options: ReaderOptions = {}) {
    this.#lineBytesMax = options.lineBytesMax ?? LINE_BYTES_MAX;
    this.#platform = options.platform ?? platform;
  }

  /** Reads the next bytes and returns the items of the lines that end in them. */
  push(chunk: Uint8Array): LineItem[] {
    return collect((sink) => this.read(chunk, sink));
  }

  /** Ends the stream: returns the item of a last line without LF. The reader can then be used for another stream. */
  end(): LineItem[] {
    return collect((sink) => this.readEnd(sink));
  }

  /** As `push`, into a sink, which uses each item at once. */
  read(chunk: Uint8Array, sink: LineSink): void {
    const bytes = this.#platform.wrap(chunk);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      if (this.#restBytes > 0) this.#lastPiece(bytes.subarray(start, end), sink);
      else this.#line(bytes, start, end, sink);
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start), sink);
  }

  readEnd(sink: LineSink): void {
    if (this.#restBytes > 0) this.#lastPiece(EMPTY, sink);
    this.#offset = 0;
  }

  #line(bytes: Uint8Array, start: number, end: number, sink: LineSink, before = '', length = end - start): void {
    const offset = this.#offset;
    this.#offset += length + 1;
    const limit = this.#lineBytesMax;
    if (length > limit) return sink.issue({ type: 'oversize', offset, length, limit });
    if (length === 0 || (!before && sink.bytes?.(bytes, start, end))) return;
    const text = before + this.#text(bytes, start, end);
    const line = offset === 0 ? withoutBom(text) : text;
    const message = parseJson(line);
    if (typeof message === 'object') sink.message(message);
    else if (line.trim()) sink.issue(malformed(message, line, offset, length, line === text ? 0 : BOM_BYTES));
  }

  #text(bytes: Uint8Array, start: number, end: number): string {
    const text = this.#platform.text(bytes, start, end);
    // V8 answers at once for the many one-byte strings, which cannot hold the character.
    if (text.indexOf('\ufffd') !== -1) this.invalidBytes += countReplaced(text, bytes.subarray(start, end));
    return text;
  }

  #keep(piece: Uint8Array, sink: LineSink): void {
    if (this.#restBytes === 0) this.#invalidBefore = this.invalidBytes;
    this.#restBytes += piece.length;
    if (this.#restBytes > this.#lineBytesMax) {
      this.#before = '';
      this.invalidBytes = this.#invalidBefore;
      return;
    }
    // Only a sink that asks for bytes gets a line in one piece.
    const needed = sink.bytes ? this.#roomBytes + piece.length + 1 : 1;
    if (this.#room.length < needed) {
      const smaller = this.#room;
      this.#room = this.#platform.wrap(new Uint8Array(Math.max(BLOCK_BYTES, 2 * needed)));
      this.#room.set(smaller);
    }
    for (let at = 0; at < piece.length; )
      at += this.#fill(piece.subarray(at, at + this.#room.length - this.#roomBytes));
  }

  #fill(part: Uint8Array): number {
    const room = this.#room;
    room.set(part, this.#roomBytes);
    this.#roomBytes += part.length;
    if (this.#roomBytes === room.length) {
      const end = lastCharacter(room);
      this.#before += this.#text(room, 0, end);
      room.copyWithin(0, end);
      this.#roomBytes -= end;
    }
    return part.length;
  }

  /** Completes a line that began in an earlier chunk. */
  #lastPiece(last: Uint8Array, sink: LineSink): void {
    this.#keep(last, sink);
    const [before, room, end, length] = [this.#before, this.#room, this.#roomBytes, this.#restBytes];
    this.#before = '';
    this.#roomBytes = this.#restBytes = 0;
    if (room.length > BLOCK_BYTES) this.#room = EMPTY;
    this.#line(room, 0, end, sink, before, length);
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

function malformed(reason: string, line: string, offset: number, length: number, bomBytes: number): LineIssue {
  const content = line.replace(/\r$/, '');
  return {
    type: 'malformed',
    offset: offset + bomBytes,
    length: length - bomBytes - line.length + content.length,
    reason: beginning(reason, EXCERPT_CHARS_MAX),
    excerpt: beginning(content, EXCERPT_CHARS_MAX),
  };
}

/** The start of the last character, so that it is not split; the end if there is none, which is invalid UTF-8. */
function lastCharacter(bytes: Uint8Array): number {
  const at = bytes.subarray(-4).findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.length - (at === -1 ? 0 : 4 - at);
}

/** Counts U+FFFD in the text that were not in the bytes (EF BF BD). */
function countReplaced(text: string, bytes: Uint8Array): number {
  let count = text.split('\ufffd').length - 1;
  bytes.forEach((byte, at) => {
    if (byte === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count--;
  });
  return count;
}
