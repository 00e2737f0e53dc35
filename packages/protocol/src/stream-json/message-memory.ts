import { type Block, compareBlock, forgetContent } from './block.ts';
import { limits } from './limits.ts';
import type { WireBlock } from './messages.ts';
import { fingerprint } from './text-mark.ts';

/** The blocks of one API message, or of one stream of snapshots that carries no message id. */
export interface KnownMessage {
  id: string | undefined;
  blocks: Block[];
  /** Parts of it came as `stream_event`. */
  streamed: boolean;
  /** Line of its agent at which it was last seen. */
  lastLine: number;
  /** How many blocks came before `blocks[0]` of which nothing but their number is remembered. */
  forgotten: number;
}

/**
 * What one agent has said so far, as far as it is needed to recognise repetitions. Bounded: old messages shrink to marks,
 * older ones are forgotten, and so are old line ids.
 */
export class MessageMemory {
  /** Lines of this agent so far. */
  lines = 0;
  /** Number of the next block that belongs to no message id; such blocks are numbered through. */
  anonymousBlocks = 0;
  /** Oldest first: a message that is seen again moves to the end. */
  readonly messages = new Map<string, KnownMessage>();
  /** Streams without message id, oldest first. */
  anonymous: KnownMessage[] = [];
  /** The message whose `stream_event`s are coming in. */
  live: KnownMessage | undefined;
  /** The messages whose blocks still have their content, latest last. */
  #whole: KnownMessage[] = [];
  #blocks = 0;
  // Two generations of fingerprints: when the younger is full the older is dropped, so that at least
  // `memoryLinesPerThread` lines are remembered and at most twice as many.
  #seen = new Set<number>();
  #seenBefore = new Set<number>();

  /** Whether a line with this uuid was seen; remembers it. */
  sawLine(uuid: string): boolean {
    const print = fingerprint(uuid);
    if (this.#seen.has(print) || this.#seenBefore.has(print)) return true;
    if (this.#seen.size >= limits.memoryLinesPerThread) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
    }
    this.#seen.add(print);
    return false;
  }

  /**
   * The message with this id, created if it is new. `keepMarks` says whether repetitions of older messages may come at all;
   * today's programs never repeat, and hashing every text for nothing would cost a tenth of the time.
   */
  message(id: string, keepMarks: boolean): KnownMessage {
    const latest = this.#whole[this.#whole.length - 1];
    if (latest?.id === id) return touch(latest, this.lines);
    let message = this.messages.get(id);
    if (message) this.messages.delete(id);
    else message = createMessage(id, this.lines);
    this.messages.set(id, message);
    this.#forgetOld();
    this.#keepWhole(message, keepMarks);
    return touch(message, this.lines);
  }

  /** A new stream of blocks that has no message id. */
  openAnonymous(): KnownMessage {
    const message = createMessage(undefined, this.lines);
    this.anonymous.push(message);
    if (this.anonymous.length > limits.anonymousStreamsMax) this.anonymous.shift();
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
    if (best) {
      this.anonymous.splice(this.anonymous.indexOf(best), 1);
      this.anonymous.push(best);
    }
    return best;
  }

  addBlock(message: KnownMessage, block: Block): void {
    message.blocks.push(block);
    this.#blocks++;
    if (this.#blocks > limits.memoryBlocksPerThread) this.#forgetOldest();
  }

  /** Drops all memory of what was said: the agent has ended long ago. */
  release(): void {
    this.messages.clear();
    this.anonymous = [];
    this.live = undefined;
    this.#whole = [];
    this.#blocks = 0;
    this.#seen = new Set();
    this.#seenBefore = new Set();
  }

  /** The newest fingerprints of lines, oldest first. */
  recentLines(count: number): number[] {
    const all = [...this.#seenBefore, ...this.#seen];
    return all.slice(Math.max(0, all.length - count));
  }

  restoreLines(prints: number[]): void {
    this.#seen = new Set(prints);
  }

  restoreMessage(message: KnownMessage): void {
    this.#blocks += message.blocks.length;
    if (message.id === undefined) this.anonymous.push(message);
    else {
      this.messages.set(message.id, message);
      this.#whole.push(message);
    }
  }

  #keepWhole(message: KnownMessage, keepMarks: boolean): void {
    const at = this.#whole.indexOf(message);
    if (at !== -1) this.#whole.splice(at, 1);
    this.#whole.push(message);
    if (this.#whole.length <= limits.wholeMessagesPerThread) return;
    const oldest = this.#whole.shift() as KnownMessage;
    if (keepMarks) for (const block of oldest.blocks) forgetContent(block);
    else {
      oldest.forgotten += oldest.blocks.length;
      this.#blocks -= oldest.blocks.length;
      oldest.blocks = [];
    }
  }

  #forgetOld(): void {
    for (const [id, message] of this.messages) {
      if (this.lines - message.lastLine <= limits.memoryLinesPerThread) return;
      this.#drop(id, message);
    }
  }

  #forgetOldest(): void {
    for (const [id, message] of this.messages) {
      if (this.#whole.includes(message) || message === this.live) break;
      this.#drop(id, message);
      if (this.#blocks <= limits.memoryBlocksPerThread) return;
    }
    if (this.anonymous.length > 1) this.#blocks -= this.anonymous.shift()?.blocks.length ?? 0;
  }

  #drop(id: string, message: KnownMessage): void {
    this.messages.delete(id);
    this.#blocks -= message.blocks.length;
    const at = this.#whole.indexOf(message);
    if (at !== -1) this.#whole.splice(at, 1);
  }
}

export function createMessage(id: string | undefined, line: number): KnownMessage {
  return { id, blocks: [], streamed: false, lastLine: line, forgotten: 0 };
}

function touch(message: KnownMessage, line: number): KnownMessage {
  message.lastLine = line;
  return message;
}

function beginsWith(content: WireBlock[], blocks: Block[]): boolean {
  const last = blocks.length - 1;
  return blocks.every((block, i) => {
    const change = compareBlock(block, content[i] as WireBlock).type;
    return change === 'same' || (i === last && change === 'grown');
  });
}
