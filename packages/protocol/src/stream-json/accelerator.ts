import { parseJson } from './lines/parse-line.ts';
import { ACCELERATED_BYTES_MAX, ACCELERATED_LINE_BYTES_MAX, ACCELERATED_MESSAGES } from './base/limits.ts';
import type { StreamJsonMessage } from './wire/messages.ts';
import { type Platform, platform as fastest } from './lines/platform.ts';
import { type ContentEnd, findContent, scanContent } from './accelerator/scan-content.ts';
import type { Accelerator } from './translator/stream-translator.ts';
import { type LastSaid, lastSaid, translateTail } from './accelerator/translate-tail.ts';
import type { Translator } from './translator/translator.ts';

/**
 * For streams that repeat all earlier blocks in every line: parses only what is new.
 *
 * Why it is sound: a JSON parser is deterministic, so after equal bytes it is in an equal state. If a line equals the one
 * before it up to the end of the content array, the rest can be parsed behind the line's head alone; the skipped part is
 * what the previous line had, and the translator has emitted it. Every other line is parsed whole, and a tail is
 * rejected if its message changed in between. So dropping an entry here costs time, never content.
 *
 * @example
 * const stream = new StreamTranslator({ accelerator: createAccelerator() });
 */
export function createAccelerator(platform: Platform = fastest): Accelerator {
  return new SnapshotAccelerator(platform);
}

/** The last line of one message. */
interface Entry {
  /** A copy of its bytes; longer than the line, so that it can grow in place. */
  line: Uint8Array;
  /** Where its content array ends. Undefined, as `said`: nothing can be said about the next line. */
  content: ContentEnd | undefined;
  /** The result of the translator for the line. */
  said: LastSaid | undefined;
}

class SnapshotAccelerator implements Accelerator {
  readonly #platform: Platform;
  /** By the bytes up to the content array, which hold the message id. Latest last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  line(bytes: Uint8Array, start: number, end: number, translator: Translator): boolean {
    const headLength = findContent(bytes, start, end) - start;
    if (headLength < 0 || end - start > ACCELERATED_LINE_BYTES_MAX) return false;
    const head = this.#platform.text(bytes, start, start + headLength);
    const entry = this.#entries.get(head) ?? this.#open(head);
    if (!entry) return false;
    return (
      this.#tail(bytes, start, end, head, entry, translator) || this.#whole(bytes, start, end, head, entry, translator)
    );
  }

  #open(head: string): Entry | undefined {
    if (!provesHead(head)) return undefined;
    const entry: Entry = { line: new Uint8Array(0), content: undefined, said: undefined };
    this.#entries.set(head, entry);
    return entry;
  }

  /** Handles the line as the one before plus a tail. False, with nothing done, where that cannot be proven. */
  #tail(bytes: Uint8Array, start: number, end: number, head: string, entry: Entry, translator: Translator): boolean {
    const { line, content, said } = entry;
    const cut = content && said && this.#cut(bytes, start, end, line, content);
    if (!cut) return false;
    const after = scanContent(bytes, start, end, cut.resume);
    if (!after || !isPlain(this.#platform.text(bytes, start + after.end, end))) return false;
    const message = this.#parse(head + cut.prefix, bytes, start + cut.from, end);
    const blocks = message?.message?.content;
    if (!message || !Array.isArray(blocks) || blocks.length !== after.count - cut.known) return false;
    // With nothing after the comma the line is not JSON, although the combined text is.
    if (blocks.length === 0 && cut.from > content.end) return false;
    if (!translateTail(translator.state, { ...cut, message, blocks }, said)) return false;
    this.#grow(entry, bytes, start, end, Math.min(cut.from, content.end));
    entry.content = after;
    entry.said = lastSaid(translator.state, message);
    return true;
  }

  /** Parses the whole line here, because only then its result is known. False: it is not JSON. */
  #whole(bytes: Uint8Array, start: number, end: number, head: string, entry: Entry, translator: Translator): boolean {
    entry.said = undefined;
    const message = this.#parse('', bytes, start, end);
    if (!message) return false;
    translator.message(message);
    this.#entries.delete(head);
    this.#entries.set(head, entry);
    const line = bytes.subarray(start, end);
    entry.content = scanContent(line, 0, line.length, { ...NOTHING, at: head.length });
    entry.said = lastSaid(translator.state, message);
    if (entry.content?.count !== message.message?.content?.length) entry.content = undefined;
    this.#grow(entry, bytes, start, end, 0);
    return true;
  }

  /** Parses text and bytes. Undefined if they are not JSON, or not UTF-8: the reader counts invalid bytes. */
  #parse(before: string, bytes: Uint8Array, start: number, end: number): StreamJsonMessage | undefined {
    const text = this.#platform.text(bytes, start, end);
    return text.includes('\ufffd') ? undefined : parseMessage(before + text);
  }

  /** Where the new part of the line begins, if all before it is what the line before had. */
  #cut(bytes: Uint8Array, start: number, end: number, line: Uint8Array, content: ContentEnd): Cut | undefined {
    if (start + content.end < end && equal(bytes, start, line, content.end)) {
      const next = bytes[start + content.end];
      const known = content.count;
      const resume = { ...content, at: content.end };
      if (next === CLOSE) return { from: content.end, prefix: '', known, grown: false, resume };
      if (next === COMMA) return { from: content.end + 1, prefix: '', known, grown: false, resume };
      return undefined;
    }
    const { textOpen, textClose, lastStart } = content;
    if (textClose <= 0 || start + textClose >= end || !equal(bytes, start, line, textClose)) return undefined;
    // The last text goes on where it ended. Not in the middle of a character: those bytes would not decode alone.
    if (((bytes[start + textClose] as number) & 0xc0) === 0x80) return undefined;
    return {
      from: textClose,
      prefix: this.#platform.text(line, lastStart, textOpen + 1),
      known: content.count - 1,
      grown: true,
      resume: { ...content, at: textClose },
    };
  }

  /** Copies the line into the entry, which already has all bytes before `from`. Then evicts the oldest entries above the limit. */
  #grow(entry: Entry, bytes: Uint8Array, start: number, end: number, from: number): void {
    const length = end - start;
    if (entry.line.length < length) {
      const larger = this.#platform.wrap(new Uint8Array(Math.max(1024, length * 2)));
      larger.set(entry.line.subarray(0, from));
      this.#bytes += larger.length - entry.line.length;
      entry.line = larger;
    }
    entry.line.set(bytes.subarray(start + from, end), from);
    for (const [head, { line }] of this.#entries) {
      if (this.#entries.size <= ACCELERATED_MESSAGES && this.#bytes <= ACCELERATED_BYTES_MAX) break;
      this.#entries.delete(head);
      this.#bytes -= line.length;
    }
  }
}

interface Cut {
  /** First byte of the new part. */
  from: number;
  /** The text to prepend so that the new part is JSON: the start of the block whose text continues. */
  prefix: string;
  /** Blocks that need not be parsed. */
  known: number;
  /** Whether the first parsed block is the last known one, with only the new part of its text. */
  grown: boolean;
  resume: ContentEnd & { at: number };
}

const COMMA = 0x2c;
const CLOSE = 0x5d;
const NOTHING: ContentEnd = { end: 0, count: 0, lastStart: 0, textOpen: 0, textClose: 0 };

/** Whether `length` bytes from `start` are the first ones of `line`. A Buffer knows a faster way than a loop. */
function equal(bytes: Uint8Array, start: number, line: Uint8Array, length: number): boolean {
  const { compare } = bytes as { compare?: Compare };
  if (compare) return compare.call(bytes, line, 0, length, start, start + length) === 0;
  for (let i = 0; i < length; i++) if (bytes[start + i] !== line[i]) return false;
  return true;
}

/** Node's Buffer.compare. */
type Compare = (target: Uint8Array, targetStart: number, targetEnd: number, start: number, end: number) => number;

/**
 * The head ends in `message.content` of an assistant line and nowhere else: closed at that point it must say so. A key that
 * is written with escapes could be a content array before it.
 */
function provesHead(head: string): boolean {
  // With an escape `content` could have stood before in disguise, and this array be another one.
  const message = head.includes('\\') ? undefined : parseMessage(`${head}]}}`);
  return message?.type === 'assistant' && Array.isArray(message.message?.content);
}

/** After the content nothing may change its meaning: no second `content` or `message`, not even one written with escapes. */
function isPlain(rest: string): boolean {
  return !/\\|"content"|"message"/.test(rest);
}

/** Parses a combined text. Undefined if it is not JSON: then the whole line is parsed instead. */
function parseMessage(text: string): StreamJsonMessage | undefined {
  const message = parseJson(text);
  return typeof message === 'object' ? message : undefined;
}
