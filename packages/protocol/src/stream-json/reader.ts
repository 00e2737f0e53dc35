import { limits } from './limits.ts';
import type { LineItem } from './messages.ts';
import { isMessage } from './parse-line.ts';

export interface ReaderOptions {
  /** Longest line that is parsed, in bytes. */
  lineBytesMax?: number;
}

const LF = 0x0a;
const CR = 0x0d;

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
  // One decoder for all lines: ignoreBOM, because U+FEFF inside a line is content. The stream's own BOM is cut by hand.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Pieces of a line that goes on in the next chunk. Joined once, at its end: joining at every chunk would be quadratic. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  /** Set while the rest of a line over the limit is skipped; then its pieces are no longer kept, only counted. */
  #skipping = false;
  /** Offset of the first byte of the line that is being read. */
  #lineOffset = 0;

  constructor(options: ReaderOptions = {}) {
    this.#lineBytesMax = options.lineBytesMax ?? limits.lineBytesMax;
  }

  /** Takes the next bytes and returns what the lines that ended in them hold. */
  push(chunk: Uint8Array): LineItem[] {
    const items: LineItem[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#line(this.#pieceBytes === 0 ? chunk.subarray(start, end) : this.#join(chunk.subarray(start, end)), items);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return items;
  }

  /** The stream is over: returns what its last line holds if that had no LF. The reader can be used for a next stream. */
  end(): LineItem[] {
    const items: LineItem[] = [];
    if (this.#pieceBytes > 0) this.#line(this.#join(new Uint8Array(0)), items);
    this.#lineOffset = 0;
    return items;
  }

  #keep(piece: Uint8Array): void {
    this.#pieceBytes += piece.length;
    if (this.#skipping) return;
    if (this.#pieceBytes > this.#lineBytesMax) {
      this.#skipping = true;
      this.#pieces = [];
      return;
    }
    // A copy, because the caller may reuse its buffer, and because a view of 10 bytes would keep 64 KiB alive.
    this.#pieces.push(piece.slice());
  }

  /** The kept pieces and the last one as one line. Of a skipped line only the length is true: its bytes are gone. */
  #join(last: Uint8Array): Uint8Array {
    this.#keep(last);
    if (this.#skipping) return EMPTY;
    const line = new Uint8Array(this.#pieceBytes);
    let at = 0;
    for (const piece of this.#pieces) {
      line.set(piece, at);
      at += piece.length;
    }
    return line;
  }

  #line(bytes: Uint8Array, items: LineItem[]): void {
    const offset = this.#lineOffset;
    const lineBytes = this.#skipping ? this.#pieceBytes : bytes.length;
    this.#lineOffset += lineBytes + 1;
    this.#pieces = [];
    this.#pieceBytes = 0;
    if (this.#skipping || lineBytes > this.#lineBytesMax) {
      this.#skipping = false;
      items.push({ type: 'oversize', offset, length: lineBytes, limit: this.#lineBytesMax });
      return;
    }
    const item = this.#parse(trim(bytes, offset), offset + (offset === 0 && startsWithBom(bytes) ? 3 : 0));
    if (item) items.push(item);
  }

  #parse(bytes: Uint8Array, offset: number): LineItem | undefined {
    if (bytes.length === 0) return undefined;
    const text = this.#decoder.decode(bytes);
    // Looked for only in lines that have the character at all; V8 answers at once for the many one-byte strings.
    if (text.includes('\ufffd')) this.invalidBytes += countReplaced(text, bytes);
    try {
      const value: unknown = JSON.parse(text);
      if (isMessage(value)) return { type: 'message', message: value, offset, length: bytes.length };
      return malformed(text, offset, bytes.length, `a ${jsonKind(value)}, not an object`);
    } catch (error) {
      if (text.trim() === '') return undefined;
      return malformed(text, offset, bytes.length, error instanceof Error ? error.message : String(error));
    }
  }
}

const EMPTY = new Uint8Array(0);

function startsWithBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Without the stream's BOM and without the CR of a CRLF. */
function trim(bytes: Uint8Array, offset: number): Uint8Array {
  const start = offset === 0 && startsWithBom(bytes) ? 3 : 0;
  const end = bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, Math.max(start, end));
}

/** U+FFFD in the text that did not stand in the bytes as such (EF BF BD). */
function countReplaced(text: string, bytes: Uint8Array): number {
  let count = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) count++;
  for (let at = bytes.indexOf(0xef); at !== -1; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count--;
  }
  return count;
}

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function malformed(text: string, offset: number, length: number, reason: string): LineItem {
  return {
    type: 'malformed',
    offset,
    length,
    reason: reason.slice(0, limits.excerptCharsMax),
    excerpt: text.slice(0, limits.excerptCharsMax),
  };
}
