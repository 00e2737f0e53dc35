/** Where the content array of a line ends, and where its last block could grow. Offsets count from the line's start. */
export interface ContentEnd {
  /** Offset of the closing bracket. */
  end: number;
  /** Blocks in the array. */
  count: number;
  /** Offset of the last block's opening brace. */
  lastStart: number;
  /** Offsets of the quotes around the last block's text; 0 where it has none, -1 where it is unclear which one it is. */
  textOpen: number;
  textClose: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const PREFIX = ascii('{"type":"assistant",');
const CONTENT = ascii('"content":[');
/** The content array begins near the line's start or not at all. */
const HEAD_BYTES_MAX = 1024;

/** The offset behind `"content":[` of an assistant line in the form that programs write it; -1 for every other line. */
export function findContent(bytes: Uint8Array, start: number, end: number): number {
  if (!matches(bytes, start, PREFIX)) return -1;
  const last = Math.min(end, start + HEAD_BYTES_MAX);
  // A loop of our own: indexOf would search the rest of the chunk where the line has no array.
  for (let at = start + PREFIX.length; at < last; at++) {
    if (bytes[at] === OPEN_ARRAY && matches(bytes, at - CONTENT.length + 1, CONTENT)) return at + 1;
  }
  return -1;
}

/**
 * Follows the content array to its end, from `resume.at`: before a block or behind one, or inside the last block's text
 * where `resume.at` is its closing quote. Knows strings, escapes and nesting, nothing else; the parser has the last word.
 */
export function scanContent(
  bytes: Uint8Array,
  start: number,
  end: number,
  resume: ContentEnd & { at: number },
): ContentEnd | undefined {
  let { count, lastStart, textOpen, textClose } = resume;
  let at = start + resume.at;
  let depth = 0;
  /** At depth 1: the next string is a key. */
  let atKey = false;
  let textIsNext = false;
  if (textClose > 0 && resume.at === textClose) {
    const close = closingQuote(bytes, at, end);
    if (close === -1) return undefined;
    textClose = close - start;
    at = close + 1;
    depth = 1;
  }
  const growing = depth === 1;
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const close = closingQuote(bytes, at + 1, end);
      if (close === -1) return undefined;
      if (depth === 1 && atKey) {
        textIsNext = isTextKey(bytes, at, close);
        atKey = false;
        // A second text, or a key that may be one in disguise: then it is unclear which one grows.
        if (textIsNext ? textClose !== 0 : hasEscape(bytes, at, close)) {
          if (growing && lastStart === resume.lastStart) return undefined;
          [textOpen, textClose] = [-1, -1];
        }
      } else if (depth === 1 && textIsNext) {
        if (textClose === 0) [textOpen, textClose] = [at - start, close - start];
        textIsNext = false;
      }
      at = close;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth === 0) {
        count++;
        lastStart = at - start;
        textOpen = textClose = 0;
        atKey = true;
        textIsNext = false;
      }
      depth++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (depth === 0) {
        return byte === CLOSE_ARRAY ? { end: at - start, count, lastStart, textOpen, textClose } : undefined;
      }
      depth--;
    } else if (byte === COMMA && depth === 1) {
      atKey = true;
      textIsNext = false;
    }
  }
  return undefined;
}

/** The quote that ends the string in which `at` stands; quotes behind an odd number of backslashes do not. */
function closingQuote(bytes: Uint8Array, at: number, end: number): number {
  for (let quote = bytes.indexOf(QUOTE, at); quote !== -1 && quote < end; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let slashes = 0;
    while (quote - slashes > at && bytes[quote - slashes - 1] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
  }
  return -1;
}

const TEXT = ascii('"text"');
const THINKING = ascii('"thinking"');

function isTextKey(bytes: Uint8Array, open: number, close: number): boolean {
  const key = close - open + 1 === TEXT.length ? TEXT : THINKING;
  return close - open + 1 === key.length && matches(bytes, open, key);
}

function hasEscape(bytes: Uint8Array, open: number, close: number): boolean {
  for (let at = open + 1; at < close; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function matches(bytes: Uint8Array, at: number, pattern: number[]): boolean {
  for (let i = 0; i < pattern.length; i++) if (bytes[at + i] !== pattern[i]) return false;
  return true;
}

function ascii(text: string): number[] {
  return Array.from(text, (character) => character.charCodeAt(0));
}
