import type { AssistantBlock } from '../../../../base/content.ts';
import type { Usage } from '../../../model/engine.ts';
import type { ProgramEvent } from '../../program.ts';
import { type BlockKind, OpenBlock, type TextKind, toContent } from './open-block.ts';

/**
 * The source that announces the end of a response. `stream`: stream events among the lines, which only the main agent has. `gateway`: the
 * gateway, which sees every block of a sub-agent before its line. `lines`: nothing; only complete lines arrive, and the response
 * ends when the thread does something else.
 */
export type AnswerSource = 'stream' | 'gateway' | 'lines';

/** The facts of a response that are known when it begins. */
export interface AnswerFacts {
  readonly messageId: string;
  readonly model: string;
  readonly source: AnswerSource;
  readonly usage: Usage;
  readonly stopReason?: string | null;
}

/** The position of a line's block. `name` is used for a block without deltas. */
export interface LinePlace {
  readonly messageId: string | undefined;
  readonly name: string;
}

/**
 * One response of a model to one thread, from its first event until its request has ended. It owns its blocks: the part of each that
 * was emitted as deltas, and whether its line has come. The gateway and the lines are its two inputs, and the line decides
 * the content of a block. The names of blocks come from the wire, never from a count, so that two blocks cannot share one.
 */
export class OpenAnswer {
  readonly key: string;
  readonly messageId: string;
  readonly model: string;
  usage: Usage;
  stopReason: string | null;
  /** The endpoint broke off the response. */
  isFailed = false;
  /** A line of the response has come. */
  isPrinted = false;
  #source: AnswerSource;
  readonly #blocks = new Map<string, OpenBlock>();
  /** The endpoint has sent everything that it will send. */
  #isFinished = false;
  /** Deltas are emitted. */
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

  /** Whether the response is complete: the endpoint has finished, and every block has had its line. */
  get isWhole(): boolean {
    return this.#source === 'gateway' && this.#isFinished && [...this.#blocks.values()].every((each) => each.isSettled);
  }

  /** Begins a block that the gateway saw begin. */
  start(name: string, kind: BlockKind, callId: string | null): void {
    if (this.#source === 'gateway') this.#create(name, kind, callId);
  }

  /**
   * Adds text that the gateway saw to a block. `isFull`: the queue of the reader is full, so nothing more of the response is emitted before
   * its lines, because on a fleet stream the text of a thread is one text, which must not have gaps. After a call that has no
   * line yet nothing is emitted either: the text would come before the call.
   */
  grow(name: string, text: string, isFull: boolean): ProgramEvent[] {
    const block = this.#blocks.get(name);
    if (block === undefined || block.isSettled) return [];
    this.#isLive &&= !isFull;
    return block.grow(this.key, text, this.#isLive && !this.#isBehindCall(block));
  }

  /** Adds text to a block of the main agent; `isEmitted` is false for the rest that comes with the complete block. */
  add(name: string, kind: TextKind, text: string, isEmitted: boolean): ProgramEvent[] {
    const block = this.#blocks.get(name) ?? this.#create(name, kind, null);
    return block.grow(this.key, text, isEmitted);
  }

  /** Replaces the text of a block. */
  replace(name: string, text: string): void {
    this.#blocks.get(name)?.replace(text);
  }

  /** Removes a block that the program has retracted. */
  retract(name: string): void {
    this.#blocks.delete(name);
  }

  stop(name: string): ProgramEvent[] {
    const block = this.#blocks.get(name);
    if (block !== undefined) block.isStopped = true;
    return this.#endBlank();
  }

  /** Marks all blocks as streamed: the main agent streams one block at a time. */
  stopAll(): ProgramEvent[] {
    for (const block of this.#blocks.values()) block.isStopped = true;
    return this.#endBlank();
  }

  /** Marks the response as finished or broken off by the endpoint. A text that was broken off may still have a line. */
  finish(isFailed: boolean): ProgramEvent[] {
    this.#isFinished = true;
    this.isFailed = isFailed;
    for (const block of this.#blocks.values()) {
      if (isFailed && !block.isStopped && (block.kind === 'call' || block.isBlank)) block.isSettled = true;
    }
    return this.#endBlank();
  }

  /** Uses only the lines from now on: the gateway cannot follow the response any more, or saw it too late. */
  followLines(): void {
    this.#source = 'lines';
    this.#isLive = false;
  }

  /** Takes the line of a complete text. A text of another message, such as a text of the program itself, is not a block of this response. */
  settle({ messageId, name }: LinePlace, kind: TextKind, text: string): ProgramEvent[] {
    const block = messageId === this.messageId ? this.#settle(this.#find(kind, text)) : undefined;
    return [this.#toEnd(block?.name ?? name, toContent(kind, text)), ...this.#endBlank()];
  }

  /** Takes the line of a block that is not a text, thinking or call. */
  settleOpaque({ messageId, name }: LinePlace, content: AssistantBlock): ProgramEvent[] {
    if (messageId === this.messageId) this.#settle(this.#unsettled('opaque')[0]);
    return [this.#toEnd(name, content), ...this.#endBlank()];
  }

  /** Takes the line or the permission request of a call. */
  settleCall(callId: string): ProgramEvent[] {
    const block = this.#unsettled('call').find((each) => each.callId === callId);
    if (block === undefined) return [];
    this.isPrinted = true;
    block.isSettled = true;
    return [...this.#catchUp(), ...this.#endBlank()];
  }

  /** Ends the blocks that the main agent has streamed, because their line has come. */
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

  /** Emits text that was held after a call, up to the next call without a line. */
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

  /** Settles a block. If its line came before the gateway saw all of it, lines and blocks cannot be matched any more. */
  #settle(block: OpenBlock | undefined): OpenBlock | undefined {
    this.isPrinted = true;
    const isSeen = block !== undefined && (block.isStopped || this.#isFinished);
    if (this.#source === 'gateway' && !isSeen) this.followLines();
    if (block !== undefined) block.isSettled = true;
    return block;
  }

  /** Finds the block of a line. Lines come in the order of their blocks: if no text matches, the line belongs to the oldest block. */
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

/** The position of a line's block. The name is unique within its thread. */
export function placeOf({ message_id: messageId, block = 0 }: { message_id?: string; block?: number }): LinePlace {
  return { messageId, name: `${messageId ?? ''} ${block}` };
}
