import type { AssistantBlock } from '../../../../base/content.ts';
import type { Usage } from '../../../model/engine.ts';
import type { ProgramEvent } from '../../program.ts';
import { type BlockKind, OpenBlock, type TextKind, toContent } from './open-block.ts';

/**
 * What announces the end of an answer. `stream`: stream events among the lines, which only the main agent has. `gateway`: the
 * gateway, which sees every block of a sub-agent before its line. `lines`: nothing; there are whole lines only, and the answer
 * ends when the thread does something else.
 */
export type AnswerSource = 'stream' | 'gateway' | 'lines';

/** What is known of an answer when it begins. */
export interface AnswerFacts {
  readonly messageId: string;
  readonly model: string;
  readonly source: AnswerSource;
  readonly usage: Usage;
  readonly stopReason?: string | null;
}

/** Where a line says that its block belongs. `name` is used for a block that was not seen to grow. */
export interface LinePlace {
  readonly messageId: string | undefined;
  readonly name: string;
}

/**
 * One answer of a model to one thread, from the first sign of it until its request has ended. It owns its blocks: what of each
 * was emitted while it grew, and whether its line has come. The gateway and the lines are its two inputs, and the line decides
 * what a block is. The names of blocks come from the wire, never from a count, so that two blocks cannot share one.
 */
export class OpenAnswer {
  readonly key: string;
  readonly messageId: string;
  readonly model: string;
  usage: Usage;
  stopReason: string | null;
  /** The endpoint broke the answer off. */
  isFailed = false;
  /** A line of it has come. */
  isPrinted = false;
  #source: AnswerSource;
  readonly #blocks = new Map<string, OpenBlock>();
  /** The endpoint has sent everything that it will send. */
  #isFinished = false;
  /** Growth is emitted. */
  #isLive = true;

  constructor(key: string, { messageId, model, source, usage, stopReason = null }: AnswerFacts) {
    this.key = key;
    this.messageId = messageId;
    this.model = model;
    this.usage = usage;
    this.stopReason = stopReason;
    this.#source = source;
  }

  get source(): AnswerSource {
    return this.#source;
  }

  /** The endpoint has finished, and every block has had its line: nothing more will come of the answer. */
  get isWhole(): boolean {
    return this.#source === 'gateway' && this.#isFinished && [...this.#blocks.values()].every((each) => each.isSettled);
  }

  /** The gateway saw a block begin. */
  start(name: string, kind: BlockKind, callId: string | null): void {
    if (this.#source === 'gateway') this.#create(name, kind, callId);
  }

  /**
   * More of a block that the gateway sees. While `isFull` the reader cannot follow: nothing more of the answer is emitted before
   * its lines, because on a fleet stream the text of a thread is one text, which must not have holes. Behind a call that has no
   * line yet nothing is emitted either: it would come before the call.
   */
  grow(name: string, text: string, isFull: boolean): ProgramEvent[] {
    const block = this.#blocks.get(name);
    if (block === undefined || block.isSettled) return [];
    this.#isLive &&= !isFull;
    return block.grow(this.key, text, this.#isLive && !this.#isBehindCall(block));
  }

  /** More of a block of the main agent; `isEmitted` is false for the rest of it, which comes with the whole. */
  add(name: string, kind: TextKind, text: string, isEmitted: boolean): ProgramEvent[] {
    const block = this.#blocks.get(name) ?? this.#create(name, kind, null);
    return block.grow(this.key, text, isEmitted);
  }

  /** The block turned out to be another text. */
  replace(name: string, text: string): void {
    this.#blocks.get(name)?.replace(text);
  }

  /** The program took the block back. */
  retract(name: string): void {
    this.#blocks.delete(name);
  }

  stop(name: string): ProgramEvent[] {
    const block = this.#blocks.get(name);
    if (block !== undefined) block.isStopped = true;
    return this.#endBlank();
  }

  /** The main agent, which streams one block at a time, has streamed all of it. */
  stopAll(): ProgramEvent[] {
    for (const block of this.#blocks.values()) block.isStopped = true;
    return this.#endBlank();
  }

  /** The endpoint has sent everything, or has broken off. A text that it broke off may still have a line. */
  finish(isFailed: boolean): ProgramEvent[] {
    this.#isFinished = true;
    this.isFailed = isFailed;
    for (const block of this.#blocks.values()) {
      if (isFailed && !block.isStopped && (block.kind === 'call' || block.isBlank)) block.isSettled = true;
    }
    return this.#endBlank();
  }

  /** The gateway cannot follow the answer any more, or saw it too late: the lines alone say what it is. */
  followLines(): void {
    this.#source = 'lines';
    this.#isLive = false;
  }

  /** The line of a whole text has arrived. A text of another message, such as one of the program itself, is not a block of this one. */
  settle({ messageId, name }: LinePlace, kind: TextKind, text: string): ProgramEvent[] {
    const block = messageId === this.messageId ? this.#settle(this.#find(kind, text)) : undefined;
    return [this.#toEnd(block?.name ?? name, toContent(kind, text)), ...this.#endBlank()];
  }

  /** The line of a block of any other kind but a call has come. */
  settleOpaque({ messageId, name }: LinePlace, content: AssistantBlock): ProgramEvent[] {
    if (messageId === this.messageId) this.#settle(this.#unsettled('opaque')[0]);
    return [this.#toEnd(name, content), ...this.#endBlank()];
  }

  /** The line of a call has come, or the program asks whether the call may run. */
  settleCall(callId: string): ProgramEvent[] {
    const block = this.#unsettled('call').find((each) => each.callId === callId);
    if (block === undefined) return [];
    this.isPrinted = true;
    block.isSettled = true;
    return [...this.#catchUp(), ...this.#endBlank()];
  }

  /** The line of what the main agent streams has come. */
  endBlocks(): ProgramEvent[] {
    const open = [...this.#blocks.values()].filter((block) => !block.isSettled);
    for (const { name } of open) this.#blocks.delete(name);
    return open.flatMap((block) => block.end(this.key));
  }

  #isBehindCall(block: OpenBlock): boolean {
    for (const each of this.#blocks.values()) {
      if (each === block) return false;
      if (each.kind === 'call' && !each.isSettled) return true;
    }
    return false;
  }

  /** What grew behind a call, up to the next call without a line. */
  #catchUp(): ProgramEvent[] {
    const events: ProgramEvent[] = [];
    for (const block of this.#isLive ? this.#blocks.values() : []) {
      if (block.isSettled) continue;
      if (block.kind === 'call') break;
      events.push(...block.catchUp(this.key));
    }
    return events;
  }

  /** Texts of white space end with their stream, once every block before them has ended. */
  #endBlank(): ProgramEvent[] {
    const ended: ProgramEvent[] = [];
    for (const block of this.#blocks.values()) {
      if (block.isSettled) continue;
      if (!block.isUnprinted) break;
      block.isSettled = true;
      if (block.text !== '') ended.push(...block.end(this.key));
    }
    return ended;
  }

  #toEnd(block: string, content: AssistantBlock): ProgramEvent {
    return { type: 'block_ended', key: this.key, block, content };
  }

  /** A line that came before the gateway saw all of its block: the gateway is behind, and lines and blocks cannot be matched. */
  #settle(block: OpenBlock | undefined): OpenBlock | undefined {
    this.isPrinted = true;
    const isSeen = block !== undefined && (block.isStopped || this.#isFinished);
    if (this.#source === 'gateway' && !isSeen) this.followLines();
    if (block !== undefined) block.isSettled = true;
    return block;
  }

  /** Lines come in the order of their blocks. Where the gateway saw another text, the line is of the oldest block. */
  #find(kind: TextKind, text: string): OpenBlock | undefined {
    const open = this.#unsettled(kind).filter((block) => !block.isUnprinted);
    const isPart = (part: string, whole: string) => part !== '' && whole.startsWith(part);
    return (
      open.find((block) => block.text === text) ??
      open.find((block) => isPart(block.text, text) || isPart(text, block.text)) ??
      open[0]
    );
  }

  #unsettled(kind: BlockKind): OpenBlock[] {
    return [...this.#blocks.values()].filter((block) => block.kind === kind && !block.isSettled);
  }

  #create(name: string, kind: BlockKind, callId: string | null): OpenBlock {
    const block = new OpenBlock(name, kind, callId);
    this.#blocks.set(name, block);
    return block;
  }
}

/** Where a line has its block. The name is unique within its thread. */
export function placeOf({ message_id: messageId, block = 0 }: { message_id?: string; block?: number }): LinePlace {
  return { messageId, name: `${messageId ?? ''} ${block}` };
}
