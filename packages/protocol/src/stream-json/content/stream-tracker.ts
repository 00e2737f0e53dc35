import { Block, growBlock, textOf, updateBlock } from '../memory/block.ts';
import { fromJson, identifier, number, record, text } from '../base/check.ts';
import { type ContentTracker, deltaType, nextNumber, placeOf, toWireBlock } from './content-tracker.ts';
import type { EventSink } from '../threads/event-sink.ts';
import type { KnownMessage } from '../memory/message-memory.ts';
import type { StreamJsonMessage, WireBlock } from '../wire/messages.ts';
import type { ThreadTracker } from '../threads/thread-tracker.ts';
import type { Thread } from '../threads/threads.ts';

/**
 * Tracks the streamed content of agents: `stream_event` lines with the deltas of the Messages API. The whole lines of the
 * same blocks arrive in between, and `ContentTracker` settles them.
 */
export class StreamTracker {
  readonly #sink: EventSink;
  readonly #threads: ThreadTracker;
  readonly #content: ContentTracker;

  constructor(sink: EventSink, threads: ThreadTracker, content: ContentTracker) {
    this.#sink = sink;
    this.#threads = threads;
    this.#content = content;
  }

  event(line: StreamJsonMessage, thread: Thread): void {
    const event = record(line.event);
    const index = number(event?.index) ?? 0;
    switch (event?.type) {
      case 'message_start':
        // A message that is still open is thereby abandoned: 2.1.197 never closes an interrupted one.
        this.#goLive(thread, identifier(record(event.message)?.id));
        return;
      case 'content_block_start':
        this.#blockStart(this.#live(thread, line), thread, index, event.content_block);
        return;
      case 'content_block_delta':
        this.#blockDelta(this.#live(thread, line), thread, index, record(event.delta));
        return;
      case 'content_block_stop':
        this.#blockStop(this.#live(thread, line), thread, index);
        return;
      case 'message_delta':
        return; // its usage and stop reason come again, whole, on the result line
      case 'message_stop':
        this.#messageStop(thread, record(line.abandoned_blocks));
        return;
      default:
        this.#sink.unknown(thread, `stream_event/${text(event?.type)}`, line);
    }
  }

  #goLive(thread: Thread, id: string | undefined): KnownMessage {
    const { memory } = thread;
    const message = id ? memory.message(id, this.#content.dialect === 'snapshots') : memory.openAnonymous();
    message.streamed = true;
    memory.live = message;
    thread.hasItems = true;
    return message;
  }

  /** The message that is streamed. If the stream was joined in the middle, one is opened under the id in the line. */
  #live(thread: Thread, line: StreamJsonMessage): KnownMessage {
    return thread.memory.live ?? this.#goLive(thread, identifier(line.api_message_id));
  }

  #blockStart(message: KnownMessage, thread: Thread, index: number, value: unknown): void {
    const wire = toWireBlock(value);
    if (!wire) return this.#content.invalid(thread, value);
    this.#addStreamed(message, thread, index, wire);
  }

  #addStreamed(message: KnownMessage, thread: Thread, index: number, wire: WireBlock): Block {
    const block = new Block(wire, nextNumber(message, thread));
    block.index = index;
    block.open = true;
    block.settled = false;
    message.blocks.push(block);
    if (takesInput(wire.type)) block.text = '';
    if (wire.type === 'tool_use') {
      const toolUseId = this.#threads.made(block.id, thread);
      const toolName = text(wire.name) ?? 'unknown';
      this.#sink.emit(thread, { type: 'tool_use_start', ...placeOf(message, block.number), toolUseId, toolName });
    } else if (block.text) {
      block.said = true;
      this.#sink.say(thread, deltaType(wire.type), message.id, block.number, block.text);
    }
    return block;
  }

  #blockDelta(message: KnownMessage, thread: Thread, index: number, delta: Record<string, unknown> | undefined): void {
    const type = delta?.type;
    if (type === 'text_delta' || type === 'thinking_delta') {
      const kind = type === 'text_delta' ? 'text' : 'thinking';
      const more = text(delta?.[kind]) ?? '';
      const block = this.#grow(message, thread, index, kind, more);
      block.said = true;
      this.#sink.say(thread, type, message.id, block.number, more);
    } else if (type === 'input_json_delta') {
      const more = text(delta?.partial_json) ?? '';
      const block = this.#grow(message, thread, index, 'tool_use', more);
      // A tool of the server is emitted as a whole.
      const { kind, number, id = '' } = block;
      if (kind === 'tool_use') this.#sink.say(thread, 'tool_input_delta', message.id, number, more, id);
    } else if (type !== 'signature_delta' && type !== 'citations_delta') {
      // These two kinds are also on the whole line; every other kind is unknown.
      this.#sink.unknown(thread, `delta/${text(type)}`, delta);
    }
  }

  /** The block that streams at this index with its new part; joined in mid-stream it is opened here. */
  #grow(message: KnownMessage, thread: Thread, index: number, kind: string, more: string): Block {
    const block = openBlock(message, index) ?? this.#addStreamed(message, thread, index, { type: kind });
    growBlock(block, more);
    return block;
  }

  #blockStop(message: KnownMessage, thread: Thread, index: number): void {
    const block = openBlock(message, index);
    if (!block) return;
    block.open = false;
    if (block.said || block.settled) return;
    const wire = streamedWire(block);
    if (!wire) return; // the input is not complete JSON, or known only by its mark: the whole line will have it
    if (textOf(wire) === undefined) updateBlock(block, wire);
    block.said = true;
    this.#content.say(message, block.number, wire, { thread });
  }

  #messageStop(thread: Thread, abandoned: Record<string, unknown> | undefined): void {
    const message = thread.memory.live;
    thread.memory.live = undefined;
    const from = number(abandoned?.from_block_index) ?? Infinity;
    for (const block of message?.blocks ?? []) {
      if (block.index < from || block.settled) continue;
      block.settled = true;
      if (message && (block.said || block.kind === 'tool_use')) {
        this.#sink.emit(thread, { type: 'retract', ...placeOf(message, block.number) });
      }
    }
    // The message is complete, unless its whole lines are still to come (2.0.37).
    if (message?.blocks.every((block) => block.settled)) {
      message.forgotten += message.blocks.length;
      message.blocks = [];
    }
  }
}

function openBlock(message: KnownMessage, index: number): Block | undefined {
  for (let i = message.blocks.length - 1; i >= 0; i--) {
    const block = message.blocks[i] as Block;
    if (block.index === index && block.open) return block;
  }
  return undefined;
}

/** A streamed block in the form of a line; undefined if its input is incomplete. */
function streamedWire(block: Block): WireBlock | undefined {
  if (block.kind === 'text' || block.kind === 'thinking') return { type: block.kind, text: '' };
  const start = toWireBlock(block.value);
  if (!start || !block.text) return start;
  const input = fromJson(block.text);
  return input === undefined ? undefined : { ...start, input };
}

/** Kinds whose input comes as pieces of JSON text. */
function takesInput(kind: string): boolean {
  return kind.endsWith('tool_use');
}
