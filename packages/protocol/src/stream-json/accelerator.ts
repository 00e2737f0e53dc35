import { isMessage } from './parse-line.ts';
import { ACCELERATED_BYTES_MAX, ACCELERATED_LINE_BYTES_MAX, ACCELERATED_MESSAGES } from './limits.ts';
import type { StreamJsonMessage } from './messages.ts';
import { type Platform, platform as fastest } from './platform.ts';
import { type ContentEnd, findContent, scanContent } from './scan-content.ts';
import type { Accelerator } from './stream-translator.ts';
import { translateTail } from './translate-tail.ts';
import type { Translator } from './translator.ts';

/**
 * For streams that repeat all earlier blocks in every line: parses only what is new.
 *
 * Why it is sound: a JSON parser is deterministic, so after equal bytes it is in an equal state. If a line equals the one
 * before it up to the end of the content array, the rest can be parsed behind the line's head alone; what is skipped is
 * what the line before said, and the translator has said it. Whatever is not plainly that case is parsed whole, and the
 * translator refuses a tail that does not fit what it knows. So dropping any entry here costs time, never content.
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
  headLength: number;
  /** Where its content array ends. Undefined: nothing can be said about the next line. */
  content: ContentEnd | undefined;
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
    const entry = this.#entries.get(head);
    if (entry?.content && this.#tail(bytes, start, end, head, entry, translator)) return true;
    this.#remember(bytes.subarray(start, end), head, headLength, entry);
    return false;
  }

  /** Handles the line as the one before plus a tail. False, with nothing done, where that cannot be proven. */
  #tail(bytes: Uint8Array, start: number, end: number, head: string, entry: Entry, translator: Translator): boolean {
    const { line, content } = entry as { line: Uint8Array; content: ContentEnd };
    const cut = this.#cut(bytes, start, end, line, content);
    if (!cut) return false;
    const after = scanContent(bytes, start, end, cut.resume);
    if (!after || !isPlain(this.#platform.text(bytes, start + after.end, end))) return false;
    const message = parseMessage(head + cut.prefix + this.#platform.text(bytes, start + cut.from, end));
    const blocks = message?.message?.content;
    if (!message || !Array.isArray(blocks) || blocks.length !== after.count - cut.known) return false;
    if (!translateTail(translator.state, { message, blocks, known: cut.known, grown: cut.grown })) return false;
    this.#grow(entry, bytes, start, end, Math.min(cut.from, content.end), after);
    return true;
  }

  /** Where the new part of the line begins, if all before it is what the line before had. */
  #cut(bytes: Uint8Array, start: number, end: number, line: Uint8Array, content: ContentEnd): Cut | undefined {
    const { equal, text } = this.#platform;
    if (start + content.end < end && equal(bytes, start, line, 0, content.end)) {
      const next = bytes[start + content.end];
      const known = content.count;
      const resume = { ...content, at: content.end };
      if (next === CLOSE) return { from: content.end, prefix: '', known, grown: false, resume };
      if (next === COMMA) return { from: content.end + 1, prefix: '', known, grown: false, resume };
      return undefined;
    }
    const { textOpen, textClose, lastStart } = content;
    if (textClose <= 0 || start + textClose >= end || !equal(bytes, start, line, 0, textClose)) return undefined;
    // The last text goes on where it ended. Not in the middle of a character: those bytes would not decode alone.
    if (((bytes[start + textClose] as number) & 0xc0) === 0x80) return undefined;
    return {
      from: textClose,
      prefix: text(line, lastStart, textOpen + 1),
      known: content.count - 1,
      grown: true,
      resume: { ...content, at: textClose },
    };
  }

  /** Takes the line over: all before `from` is there already. */
  #grow(entry: Entry, bytes: Uint8Array, start: number, end: number, from: number, content: ContentEnd): void {
    const length = end - start;
    if (entry.line.length < length) {
      const larger = this.#platform.wrap(new Uint8Array(Math.max(1024, length * 2)));
      larger.set(entry.line.subarray(0, from));
      this.#bytes += larger.length - entry.line.length;
      entry.line = larger;
    }
    entry.line.set(bytes.subarray(start + from, end), from);
    entry.content = content;
  }

  #remember(bytes: Uint8Array, head: string, headLength: number, known: Entry | undefined): void {
    const entry = known ?? { line: new Uint8Array(0), headLength, content: undefined };
    this.#entries.delete(head);
    if (!provesHead(head)) return;
    this.#entries.set(head, entry);
    const content = scanContent(bytes, 0, bytes.length, { ...NOTHING, at: headLength });
    this.#grow(entry, bytes, 0, bytes.length, 0, content ?? NOTHING);
    entry.content = content;
    for (const [oldHead, old] of this.#entries) {
      if (this.#entries.size <= ACCELERATED_MESSAGES && this.#bytes <= ACCELERATED_BYTES_MAX) break;
      this.#entries.delete(oldHead);
      this.#bytes -= old.line.length;
    }
  }
}

interface Cut {
  /** First byte of the new part. */
  from: number;
  /** What must stand before it to be JSON again: the start of the block whose text goes on. */
  prefix: string;
  /** Blocks that need not be parsed. */
  known: number;
  /** The first parsed block is the last known one, with only the new part of its text. */
  grown: boolean;
  resume: ContentEnd & { at: number };
}

const COMMA = 0x2c;
const CLOSE = 0x5d;
const NOTHING: ContentEnd = { end: 0, count: 0, lastStart: 0, textOpen: 0, textClose: 0 };

/** The head ends in `message.content` of an assistant line and nowhere else: closed at that point it must say so. */
function provesHead(head: string): boolean {
  const message = parseMessage(`${head}]}}`);
  return message?.type === 'assistant' && Array.isArray(message.message?.content);
}

/** After the content nothing may change its meaning: no second `content` or `message`, not even one written with escapes. */
function isPlain(rest: string): boolean {
  return !/\\|"content"|"message"/.test(rest);
}

function parseMessage(text: string): StreamJsonMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined; // not JSON when put together like this: the whole line is parsed instead
  }
}
