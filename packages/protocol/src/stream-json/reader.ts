import { EXCERPT_CHARS_MAX, LINE_BYTES_MAX, BLOCK_BYTES } from './limits.ts';
import type { LineIssue, LineItem, StreamJsonMessage } from './messages.ts';
import { isMessage } from './parse-line.ts';
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
   * A line that goes on in the next chunk, in blocks that are joined once, at its end: joining at every chunk would be
   * quadratic, and a list of the pieces themselves would take hundreds of bytes for each where they come byte by byte.
   * Over the limit the bytes are only counted.
   */
  #blocks: Uint8Array[] = [];
  /** Bytes that are free at the end of the last block. */
  #free = 0;
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
    if (length > this.#lineBytesMax) return sink.issue({ type: 'oversize', offset, length, limit: this.#lineBytesMax });
    const bom = offset === 0 && startsWithBom(bytes, lineStart) ? 3 : 0;
    const start = lineStart + bom;
    const end = lineEnd > start && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (start === end || sink.bytes?.(bytes, start, end)) return;
    const text = this.#platform.text(bytes, start, end);
    // V8 answers at once for the many one-byte strings, which cannot hold the character.
    if (text.includes('\ufffd')) this.invalidBytes += countReplaced(text, bytes.subarray(start, end));
    const message = parse(text);
    if (typeof message === 'object') sink.message(message);
    else if (message) sink.issue(malformed(message, text, offset + bom, end - start));
  }

  #keep(piece: Uint8Array): void {
    this.#restBytes += piece.length;
    if (this.#restBytes > this.#lineBytesMax) {
      this.#blocks = [];
      this.#free = 0;
      return;
    }
    if (piece.length > this.#free) {
      const last = this.#blocks.pop();
      if (last) this.#blocks.push(last.subarray(0, last.length - this.#free));
      this.#free = Math.max(BLOCK_BYTES, piece.length);
      this.#blocks.push(new Uint8Array(this.#free));
    }
    const block = this.#blocks[this.#blocks.length - 1] as Uint8Array;
    block.set(piece, block.length - this.#free);
    this.#free -= piece.length;
  }

  /** A line that began in an earlier chunk is complete. */
  #lastPiece(last: Uint8Array, sink: LineSink): void {
    this.#keep(last);
    const length = this.#restBytes;
    const line = this.#platform.wrap(new Uint8Array(length > this.#lineBytesMax ? 0 : length));
    let at = 0;
    for (const block of this.#blocks) {
      line.set(block.subarray(0, length - at), at);
      at += block.length;
    }
    this.#blocks = [];
    this.#free = this.#restBytes = 0;
    this.#line(line, 0, length, sink);
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

/** A message, what is wrong with the line, or '' where it is blank. */
function parse(line: string): StreamJsonMessage | string {
  try {
    const value: unknown = JSON.parse(line);
    return isMessage(value) ? value : 'JSON, but not an object';
  } catch (error) {
    return line.trim() && String(error);
  }
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
  for (let at = bytes.indexOf(0xef); at !== -1; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count--;
  }
  return count;
}
