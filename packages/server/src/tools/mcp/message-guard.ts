import { setImmediate as nextTick } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { atMostOfHeap } from '../../base/process/heap-room.ts';
import type { HeldBytes } from '../../base/held-bytes.ts';
import { JsonGauge } from '../../base/json/json-gauge.ts';
import { toolLimits } from '../limits.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { McpFault } from './mcp-fault.ts';

export interface MessageGuardOptions {
  /** The form of the response: events with one message each, or one JSON message. */
  readonly form: 'events' | 'json';
  /** The limits of a response. Undefined for a stream of notifications, which does not end, so its rate is bounded instead. */
  readonly allowance: Allowance | undefined;
  readonly limits: ToolLimits;
  readonly clock: Pick<Clock, 'steady'>;
  /** The bytes of incomplete messages: of the connection, and of all connections. */
  readonly held: HeldBytes;
  readonly heldByAll: HeldBytes;
}

/** The remaining bytes and values. Several responses may share one allowance, such as the pages of a list. */
export interface Allowance {
  readonly bytesMax: number;
  readonly valuesMax: number;
  bytes: number;
  values: number;
}

/**
 * Passes the bytes of a response to the library, which holds a message as a whole and parses it at once, whatever its
 * size. So each byte is counted before the library receives it, and only a limited number of messages is passed at a time.
 */
export class MessageGuard {
  readonly #options: MessageGuardOptions;
  readonly #gauge = new JsonGauge();
  /** The bytes of the incomplete message, and of its last line. */
  #bytes = 0;
  #lineBytes = 0;
  #isIdLine = false;
  #endedWithReturn = false;
  #messages = 0;
  #window: { readonly beginMs: number; readonly messages: number; bytes: number };

  constructor(options: MessageGuardOptions) {
    this.#options = options;
    this.#window = { beginMs: options.clock.steady(), messages: 0, bytes: 0 };
  }

  /** Passes on the bytes of a response. Throws an {@link McpFault} above a limit. */
  async *read(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of source) {
        const bytes = this.#options.form === 'json' ? chunk : this.#withoutReturns(chunk);
        for (let start = 0; start < bytes.length; ) {
          const end = this.#take(bytes, start);
          yield bytes.subarray(start, end);
          start = end;
          // Yields, so that the library handles this part, and other events are handled, before the next part.
          await nextTick();
        }
      }
    } finally {
      this.#endMessage();
    }
  }

  /** Counts the next bytes and returns the end of the part to pass on: at most `MESSAGES_AT_ONCE` messages. */
  #take(bytes: Uint8Array, start: number): number {
    if (this.#options.form === 'json') {
      if (this.#bytes === 0) checkBegin(bytes);
      this.#count(bytes, start, bytes.length);
      return bytes.length;
    }
    const messagesMax = this.#messages + MESSAGES_AT_ONCE;
    let at = start;
    while (at < bytes.length && this.#messages < messagesMax) {
      const found = bytes.indexOf(LINE_FEED, at);
      const end = found === -1 ? bytes.length : found + 1;
      this.#count(bytes, at, end);
      this.#countLine(bytes[at], end - at, found !== -1);
      at = end;
    }
    return at;
  }

  #count(bytes: Uint8Array, start: number, end: number): void {
    const { allowance, limits, held, heldByAll } = this.#options;
    const count = end - start;
    this.#gauge.push(bytes, start, end);
    this.#bytes += count;
    held.add(count);
    if (held.held > limits.mcpConnectionBytesMax) {
      throw tooMuch('the answers under way', limits.mcpConnectionBytesMax, 'bytes');
    }
    const heldMax = atMostOfHeap(limits.mcpHeldBytesMax, toolLimits.mcpHeldHeapShare);
    if (heldByAll.held > heldMax) {
      throw tooMuch('the answers of all MCP servers under way', Math.floor(heldMax), 'bytes');
    }
    if (this.#gauge.depth > limits.mcpDepthMax) throw tooMuch('a message', limits.mcpDepthMax, 'levels');
    if (this.#gauge.shallow > limits.mcpMessageFieldsMax)
      throw tooMuch('a message', limits.mcpMessageFieldsMax, 'fields');
    if (allowance === undefined) return this.#countInWindow(count);
    allowance.bytes -= count;
    if (allowance.bytes < 0) throw tooMuch('the answer', allowance.bytesMax, 'bytes');
    if (this.#gauge.values > allowance.values) throw tooMuch('the answer', allowance.valuesMax, 'values');
    if (this.#messages > limits.mcpAnswerMessagesMax) {
      throw tooMuch('the answer', limits.mcpAnswerMessagesMax, 'messages');
    }
  }

  #countInWindow(count: number): void {
    const { limits, clock } = this.#options;
    const now = clock.steady();
    if (now - this.#window.beginMs >= limits.mcpStreamWindowMs) {
      this.#window = { beginMs: now, messages: this.#messages, bytes: 0 };
    }
    this.#window.bytes += count;
    const within = `within ${limits.mcpStreamWindowMs} ms`;
    const what = 'the stream of notifications';
    if (this.#bytes > limits.mcpNotificationBytesMax) {
      throw tooMuch('a notification', limits.mcpNotificationBytesMax, 'bytes');
    }
    if (this.#gauge.values > limits.mcpNotificationValuesMax) {
      throw tooMuch('a notification', limits.mcpNotificationValuesMax, 'values');
    }
    if (this.#window.bytes > limits.mcpStreamBytesMax) {
      throw tooMuch(what, limits.mcpStreamBytesMax, `bytes ${within}`);
    }
    if (this.#messages - this.#window.messages > limits.mcpStreamMessagesMax) {
      throw tooMuch(what, limits.mcpStreamMessagesMax, `messages ${within}`);
    }
  }

  #countLine(first: number | undefined, count: number, isEnd: boolean): void {
    if (this.#lineBytes === 0) this.#isIdLine = first === LETTER_I;
    this.#lineBytes += count;
    // The library sends the id of an event back in a header.
    if (this.#isIdLine && this.#lineBytes > ID_LINE_BYTES_MAX) {
      throw tooMuch('the id of an event', ID_LINE_BYTES_MAX, 'bytes');
    }
    if (!isEnd) return;
    // An empty line ends an event.
    if (this.#lineBytes === 1) this.#endMessage();
    this.#lineBytes = 0;
    this.#gauge.endLine();
  }

  #endMessage(): void {
    const { allowance, held } = this.#options;
    this.#messages++;
    if (allowance !== undefined) allowance.values -= this.#gauge.values;
    held.release(this.#bytes);
    this.#bytes = 0;
    this.#gauge.reset();
  }

  /** Replaces carriage returns, which end lines too, by line feeds: with many of them the library would take seconds. */
  #withoutReturns(chunk: Uint8Array): Uint8Array {
    const isFirstSkipped = this.#endedWithReturn && chunk[0] === LINE_FEED;
    const bytes = isFirstSkipped ? chunk.subarray(1) : chunk;
    this.#endedWithReturn = bytes.at(-1) === CARRIAGE_RETURN;
    if (!bytes.includes(CARRIAGE_RETURN)) return bytes;
    const kept = bytes.filter((byte, at) => byte !== LINE_FEED || bytes[at - 1] !== CARRIAGE_RETURN);
    return kept.map((byte) => (byte === CARRIAGE_RETURN ? LINE_FEED : byte));
  }
}

/** Rejects a list of messages, which was part of the protocol for a few months, and would be counted as one message. */
function checkBegin(bytes: Uint8Array): void {
  const first = bytes.find((byte) => byte > SPACE);
  if (first === OPEN_ARRAY) throw new McpFault('broken', 'its answer is a list of messages, not one');
}

/** Messages that are passed on at a time. More would block for milliseconds. */
const MESSAGES_AT_ONCE = 64;
const ID_LINE_BYTES_MAX = 1_024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const OPEN_ARRAY = 0x5b;
const LETTER_I = 0x69;

function tooMuch(what: string, max: number, unit: string): McpFault {
  const verb = what.startsWith('the answers') ? 'have' : 'has';
  return new McpFault('limit', `${what} ${verb} more than ${max} ${unit}`);
}
