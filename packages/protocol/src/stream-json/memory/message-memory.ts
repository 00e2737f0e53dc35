import { type Block, forgetContent, growthOf } from './block.ts';
import {
  ANONYMOUS_STREAMS_MAX,
  MEMORY_BLOCKS_PER_THREAD,
  MEMORY_LINES_PER_THREAD,
  REPEATING_MESSAGES_PER_THREAD,
  WHOLE_MESSAGES_PER_THREAD,
} from '../base/limits.ts';
import { LineIds } from './line-ids.ts';
import type { WireBlock } from '../wire/messages.ts';
import { keepLast } from '../base/recent-map.ts';

/** The blocks of one API message, or of one stream of snapshots that carries no message id. */
export class KnownMessage {
  declare id: string | undefined;
  declare blocks: Block[];
  /** Whether parts of the message arrived as `stream_event`. */
  streamed = false;
  /** The line of its agent at which the message was last seen. */
  lastLine = 0;
  /** Blocks before `blocks[0]` of which only the number is known: the message does not repeat itself. */
  forgotten = 0;

  constructor(id?: string) {
    this.id = id;
    // No literal either, for the same reason as with events (EventSink).
    this.blocks = NO_BLOCKS.slice();
  }
}

const NO_BLOCKS: Block[] = [];

/**
 * The content of one agent so far, as needed to recognise repetitions. Bounded: the last few messages are kept
 * whole; of older ones only marks are kept if the stream repeats itself, and otherwise nothing.
 */
export class MessageMemory {
  /** Lines of this agent so far. */
  lines = 0;
  /** Number of the next block that belongs to no message id; such blocks are numbered through. */
  anonymousBlocks = 0;
  /** Streams without message id, oldest first. */
  anonymous: KnownMessage[] = [];
  /** The message whose `stream_event`s are coming in. */
  live: KnownMessage | undefined;
  /**
   * The messages whose blocks have their content, latest last. Few, and no Map: when entries come and go a Map leaves a chain
   * of tables behind, and as soon as one of them has grown old the garbage collector has to take along all that follow.
   */
  #whole: KnownMessage[] = [];
  /** The ends of their ids: a new id, the usual case, is recognized by comparing 64 small numbers. */
  #tags: number[] = [];
  /** Older messages whose blocks have their marks, oldest first. */
  readonly #marked = new Map<string, KnownMessage>();
  #markedBlocks = 0;
  /** The ids of the agent's last lines. */
  readonly seen = new LineIds();

  /**
   * The message with this id, created if it is new. `keepMarks` says whether repetitions of older messages may come at all;
   * today's programs never repeat, and hashing every text for nothing would cost a tenth of the time.
   */
  message(id: string, keepMarks: boolean): KnownMessage {
    const latest = this.#whole.at(-1);
    const message = latest?.id === id ? latest : this.#recall(id, keepMarks);
    message.lastLine = this.lines;
    return message;
  }

  /** The message with this id if it is among the recent ones. */
  peek(id: string): KnownMessage | undefined {
    return this.#whole[this.#indexOf(id)];
  }

  /** A new stream of blocks that has no message id. */
  openAnonymous(): KnownMessage {
    const message = new KnownMessage();
    keepLast(this.anonymous, message, ANONYMOUS_STREAMS_MAX);
    return message;
  }

  /**
   * The longest anonymous stream that `content` begins with, the latest of equally long ones. Its last block may have
   * grown; all before it must be the same, or two agents that begin alike would be taken for one.
   */
  findAnonymous(content: WireBlock[]): KnownMessage | undefined {
    let best: KnownMessage | undefined;
    for (const stream of this.anonymous) {
      if (stream.blocks.length < (best?.blocks.length ?? 1) || stream.blocks.length > content.length) continue;
      if (beginsWith(content, stream.blocks)) best = stream;
    }
    if (best) this.anonymous = [...this.anonymous.filter((stream) => stream !== best), best];
    return best;
  }

  /** The newest messages with an id, oldest first, the live one among them. */
  newestMessages(count: number): KnownMessage[] {
    const newest = [...this.#marked.values(), ...this.#whole].slice(-count);
    if (this.live?.id && !newest.includes(this.live)) newest.unshift(this.live);
    return newest;
  }

  /** Restores messages as the newest ones. */
  restore(messages: KnownMessage[]): void {
    for (const message of messages) {
      if (!message.id) this.anonymous.push(message);
      else this.#tags[this.#whole.push(message) - 1] = tagOf(message.id);
    }
  }

  #recall(id: string, keepMarks: boolean): KnownMessage {
    const whole = this.#whole;
    const at = this.#indexOf(id);
    const message = whole[at] ?? this.#older(id);
    if (at !== -1) this.#drop(at);
    this.restore([message]);
    const max = keepMarks ? REPEATING_MESSAGES_PER_THREAD : WHOLE_MESSAGES_PER_THREAD;
    while (whole.length > max) this.#retire(this.#drop(0), keepMarks);
    return message;
  }

  #drop(at: number): KnownMessage {
    this.#tags.splice(at, 1);
    return this.#whole.splice(at, 1)[0] as KnownMessage;
  }

  #indexOf(id: string): number {
    return this.#tags.includes(tagOf(id)) ? this.#whole.findLastIndex((message) => message.id === id) : -1;
  }

  #older(id: string): KnownMessage {
    const marked = this.#marked.get(id);
    if (marked) this.#forget(id, marked);
    return marked ?? new KnownMessage(id);
  }

  #retire(message: KnownMessage, keepMarks: boolean): void {
    if (message === this.live) this.live = undefined;
    if (!keepMarks) return;
    for (const block of message.blocks) forgetContent(block);
    this.#marked.set(message.id as string, message);
    this.#markedBlocks += message.blocks.length;
    for (const [oldId, old] of this.#marked) {
      const tooMany = this.#markedBlocks > MEMORY_BLOCKS_PER_THREAD;
      if (!tooMany && this.lines - old.lastLine <= MEMORY_LINES_PER_THREAD) return;
      this.#forget(oldId, old);
    }
  }

  #forget(id: string, message: KnownMessage): void {
    this.#marked.delete(id);
    this.#markedBlocks -= message.blocks.length;
  }
}

function tagOf(id: string): number {
  // Of an id of one character the other one is NaN, which shifts as 0.
  return id.charCodeAt(id.length - 1) + (id.charCodeAt(id.length - 2) << 7);
}

function beginsWith(content: WireBlock[], blocks: Block[]): boolean {
  const last = blocks.length - 1;
  return blocks.every((block, i) => {
    const growth = growthOf(block, content[i] as WireBlock);
    return growth === '' || (i === last && growth !== undefined);
  });
}
