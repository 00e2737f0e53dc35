import { Block, growthOf, sameIdentity, textOf, updateBlock } from '../memory/block.ts';
import { fromJson, identifier, record, text, toJson } from '../base/check.ts';
import type { EventSink, Loose } from '../threads/event-sink.ts';
import type { BlockPlace } from '../wire/events.ts';
import { RETRACTABLE_LINES_MAX } from '../base/limits.ts';
import type { KnownMessage } from '../memory/message-memory.ts';
import type { StreamJsonMessage, WireBlock } from '../wire/messages.ts';
import { keepRecent } from '../base/recent-map.ts';
import type { ThreadTracker } from '../threads/thread-tracker.ts';
import type { Thread } from '../threads/threads.ts';

/** Whether the stream is known to repeat earlier blocks in later lines. `wide`: it has had several blocks in one line. */
export type Dialect = 'unknown' | 'wide' | 'snapshots';

/**
 * Tracks the content of agents: whole lines of one block each (as all recorded programs write), growing snapshots (as
 * older documentation describes), and whole lines of blocks that `StreamTracker` has already emitted. Each block is emitted once.
 */
export class ContentTracker {
  dialect: Dialect = 'unknown';
  /** Whether some line has repeated the content of an earlier line. */
  repeats = false;
  /** The positions of the blocks of recent lines, so that a line can be retracted. */
  readonly lines: SaidLine[] = [];
  readonly #sink: EventSink;
  readonly #threads: ThreadTracker;

  constructor(sink: EventSink, threads: ThreadTracker) {
    this.#sink = sink;
    this.#threads = threads;
  }

  /** Handles an `assistant` line. */
  assistant(line: StreamJsonMessage, thread: Thread): void {
    this.#retract(line.supersedes);
    this.#retract(line.retracted_message_uuids);
    const message = record(line.message);
    const content = this.#wireBlocks(thread, message?.content);
    if (content.length === 0) return;
    thread.hasItems = true;
    const id = identifier(message?.id);
    const said = new SaidLine(thread, line, id);
    const keepMarks = this.dialect === 'snapshots' || !said.uuid;
    if (id) this.#identified(thread.memory.message(id, keepMarks), content, said);
    else this.#anonymous(content, said);
    if (line.aborted === true) this.#forEachPlace(said, 'block_aborted');
    this.remember(said);
  }

  /** Called at the end of a turn: streams without ids start again. Other state is kept, since results can be late. */
  turnEnded(): void {
    for (const { memory } of this.#threads.registry.all.values()) memory.anonymous = [];
  }

  #identified(message: KnownMessage, content: WireBlock[], said: SaidLine): void {
    if (message.streamed) this.#settle(message, content, said);
    else if (this.#isSnapshot(message, content, said)) {
      this.repeats = true;
      this.#merge(message, content, said);
    } else for (const wire of content) this.append(message, wire, said);
  }

  /**
   * Whether the line repeats the message from its beginning. A line of several blocks that begins with the known first one
   * is never anything else; a line of one block is only taken for a repetition where the stream is known to repeat, or its
   * lines have no id of their own, since two equal blocks of one message are two blocks.
   */
  #isSnapshot(message: KnownMessage, content: WireBlock[], { uuid }: SaidLine): boolean {
    const [first] = message.blocks;
    if (!first) {
      if (content.length > 1 && this.dialect === 'unknown') this.dialect = 'wide';
      return false;
    }
    const start = content[0] as WireBlock;
    const shorter = content.length < message.blocks.length;
    if (shorter && this.dialect !== 'unknown') return growthOf(first, start) === '';
    if (this.dialect === 'snapshots') return sameIdentity(first, start);
    if (content.length >= 2 && growthOf(first, start) !== undefined) {
      this.dialect = 'snapshots';
      return true;
    }
    if (uuid || shorter) return false;
    return message.blocks.every((block, i) => growthOf(block, content[i] as WireBlock) !== undefined);
  }

  #merge(message: KnownMessage, content: WireBlock[], said: SaidLine): void {
    content.forEach((wire, i) => {
      const block = message.blocks[i];
      if (block) this.#correct(message, block, wire, said);
      else this.append(message, wire, said);
    });
  }

  /** No message id: the fingerprint of older documentation, with whole blocks instead of 64 characters. */
  #anonymous(content: WireBlock[], said: SaidLine): void {
    const { memory } = said.thread;
    const alone = said.uuid && content.length === 1 && this.dialect !== 'snapshots';
    const known = alone ? undefined : memory.findAnonymous(content);
    if (known && content.length >= 2) this.dialect = 'snapshots';
    this.#merge(known ?? memory.openAnonymous(), content, said);
  }

  /** A whole line of a message that was streamed: it is authoritative, and only what is missing is emitted. */
  #settle(message: KnownMessage, content: WireBlock[], said: SaidLine): void {
    content.forEach((wire, i) => {
      const sameIndex = content.length > 1 ? message.blocks[i] : undefined;
      const block = sameIndex && sameIdentity(sameIndex, wire) ? sameIndex : findStreamed(message, wire);
      if (!block) return this.append(message, wire, said);
      block.settled = true;
      this.#settleBlock(message, block, wire, said);
    });
  }

  #settleBlock(message: KnownMessage, block: Block, wire: WireBlock, said: SaidLine): void {
    if (!block.said && textOf(wire) === undefined) {
      if (block.text && !sameInput(block.text, wire.input)) this.#sink.count(`settled/${block.kind}`);
      updateBlock(block, wire);
    } else {
      if (growthOf(block, wire) === undefined) this.#sink.count(`settled/${block.kind}`);
      this.#correct(message, block, wire, said);
    }
    if (block.said) return;
    block.said = true;
    cover(said, block.number);
    this.say(message, block.number, wire, said);
  }

  /** Adds a new block to a message. */
  append(message: KnownMessage, wire: WireBlock, said: SaidLine): void {
    const number = nextNumber(message, said.thread);
    // Two lines of one block each: so this message does not repeat itself, and its blocks need not be remembered.
    if (number > 0 && said.id && said.uuid && this.dialect === 'unknown' && !message.streamed) {
      message.forgotten = number + 1;
      message.blocks = [];
    } else {
      const block = new Block(wire, number);
      block.said = true;
      message.blocks.push(block);
    }
    cover(said, number);
    this.say(message, number, wire, said);
  }

  /** Updates a known block to the line's content, with the smallest event that does so. */
  #correct(message: KnownMessage, block: Block, wire: WireBlock, said: SaidLine): void {
    const growth = growthOf(block, wire);
    cover(said, block.number);
    if (growth === '') return;
    updateBlock(block, wire);
    const { thread, error } = said;
    if (growth) {
      this.#sink.say(thread, deltaType(block.kind), message.id, block.number, growth);
    } else {
      const content = textOf(wire);
      if (wire.type === 'tool_use') this.#threads.made(block.id, thread);
      const place = placeOf(message, block.number);
      this.#sink.emit(thread, { type: 'replace', ...place, kind: wire.type, content, value: wire, error });
    }
    block.said = true;
  }

  /** Emits a whole block for the first time. */
  say(message: KnownMessage, number: number, wire: WireBlock, { thread, error }: StreamServer): void {
    const { id } = message;
    const content = textOf(wire);
    if (content !== undefined) {
      if (!error || wire.type === 'thinking') this.#sink.say(thread, deltaType(wire.type), id, number, content);
      else this.#sink.emit(thread, { type: 'text_delta', ...placeOf(message, number), content, error });
    } else if (wire.type === 'tool_use') {
      const toolUseId = this.#threads.made(identifier(wire.id), thread);
      const name = text(wire.name);
      if (!toolUseId || !name) this.#sink.count(`block/${wire.type}`);
      this.#sink.say(thread, 'tool_use', id, number, wire.input ?? {}, toolUseId, name ?? 'unknown');
    } else {
      if (!KNOWN_BLOCKS.test(wire.type)) this.#sink.count(`block/${wire.type}`);
      this.#sink.emit(thread, { type: 'raw', ...placeOf(message, number), kind: `block/${wire.type}`, value: wire });
    }
  }

  #wireBlocks(thread: Thread, content: unknown): WireBlock[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    if (!Array.isArray(content)) {
      if (content !== undefined && content !== null) this.invalid(thread, content);
      return [];
    }
    // Nearly always one good block; then the array itself will do.
    if (content.length === 1 && toWireBlock(content[0])) return content as WireBlock[];
    return content.flatMap((value) => toWireBlock(value) ?? (this.invalid(thread, value), []));
  }

  /** Reports a value that is not a content block. */
  invalid(thread: Thread, value: unknown): void {
    this.#sink.unknown(thread, 'block/invalid', value);
  }

  remember(said: SaidLine): void {
    if (said.uuid) keepRecent(this.lines, said, RETRACTABLE_LINES_MAX);
  }

  #retract(uuids: unknown): void {
    if (!Array.isArray(uuids)) return;
    const lines = this.lines.slice(-RETRACTABLE_LINES_MAX);
    for (const uuid of uuids) {
      const id = identifier(uuid);
      const said = lines.find((line) => id && line.uuid === id);
      if (!said) continue;
      said.uuid = undefined;
      this.#forEachPlace(said, 'retract');
    }
  }

  #forEachPlace({ thread, id, from, to }: SaidLine, type: 'retract' | 'block_aborted'): void {
    for (let block = from; block < to; block++) {
      this.#sink.emit(thread, { type, message_id: id, block });
    }
  }
}

interface StreamServer {
  thread: Thread;
  error?: string | undefined;
}

/** A line and the numbers of its blocks: `from` up to, not including, `to`. */
export class SaidLine {
  declare thread: Thread;
  declare uuid: string | undefined;
  declare id: string | undefined;
  /** The program's error code, on its own error lines. */
  declare error: string | undefined;
  from = 0;
  to = 0;

  constructor(thread: Thread, line: StreamJsonMessage, id: string | undefined) {
    this.thread = thread;
    this.uuid = identifier(line.uuid);
    this.id = id;
    this.error = identifier(line.error);
  }
}

/** Extends the blocks of a line by one. */
export function cover(said: SaidLine, number: number): void {
  if (said.to === said.from || number < said.from) said.from = number;
  if (number >= said.to) said.to = number + 1;
}

/** The number that the next block of the message gets. */
export function nextNumber(message: KnownMessage, { memory }: Thread): number {
  return message.id ? message.forgotten + message.blocks.length : memory.anonymousBlocks++;
}
/** Block types that are known and passed on unchanged: results of server tools, redacted thinking, media. */
const KNOWN_BLOCKS = /_tool_(use|result)$|^(redacted_thinking|image|document)$/;

/** The event type for a piece of a block. */
export function deltaType(kind: string): 'text_delta' | 'thinking_delta' {
  return kind === 'thinking' ? 'thinking_delta' : 'text_delta';
}

/** The fields that identify a block in an event. */
export function placeOf({ id }: KnownMessage, block: number): Loose<BlockPlace> {
  return { message_id: id, block };
}

/** The value if it is a content block. */
export function toWireBlock(value: unknown): WireBlock | undefined {
  const block = record(value);
  // The cast: the check ensures an object whose `type` is a string.
  return typeof block?.type === 'string' ? (block as WireBlock) : undefined;
}

/**
 * Finds the streamed block of a whole line. Counting lines does not work: an empty text block is streamed and gets
 * no line. 2.0.37 printed the lines after all blocks had closed, so that only the text identifies the block.
 */
function findStreamed(message: KnownMessage, wire: WireBlock): Block | undefined {
  if (wire.type === 'tool_use') return message.blocks.find((block) => sameIdentity(block, wire));
  const candidates = message.blocks.filter((block) => block.kind === wire.type && block.index >= 0 && !block.settled);
  return (
    candidates.find((block) => block.open) ??
    candidates.find((block) => growthOf(block, wire) === '') ??
    candidates.find((block) => growthOf(block, wire))
  );
}

function sameInput(json: string, input: unknown): boolean {
  const whole = toJson(input);
  return json === whole || (toJson(fromJson(json)) || json) === whole;
}
