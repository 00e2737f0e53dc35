import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import { noUsage } from '../../../model/usage.ts';
import type { Usage } from '../../../model/engine.ts';
import type { ProgramEvent } from '../../program.ts';
import type { MessageInfo, Part, Tokens } from '../wire/events.ts';
import { isFailedFinish, type LastMessage, toStopReason } from './to-outcome.ts';

type AssistantMessage = Extract<MessageInfo, { role: 'assistant' }>;
type TextPart = Extract<Part, { type: 'text' | 'reasoning' }>;

/** A text or thinking block, growing or ended. */
interface Block {
  readonly type: TextPart['type'];
  /** The number of characters so far, and the last of them. */
  grownChars: number;
  tail: string;
  isStarted: boolean;
  isEnded: boolean;
}

/**
 * A message of the assistant that is being written. Each attempt of opencode to get it is a model request: a cut attempt ends as an
 * error, its growing blocks are void, and the next attempt has new parts in the same message.
 */
export class OpenRequest {
  readonly #key: string;
  /** The newest state of the message. */
  #message: AssistantMessage;
  /** The end of the response was seen. */
  #isFinished: boolean;
  /** Growing and ended blocks, by the id of their part. */
  readonly #blocks = new RecentMap<Block>({ entriesMax: programLimits.programBlocksMax });
  #isSent = false;
  #isResting = false;

  /**
   * opencode may send an event after it has changed the object of the event: a message that is complete when it is first seen still gets
   * its parts.
   */
  constructor(key: string, message: AssistantMessage) {
    this.#key = key;
    this.#message = message;
    this.#isFinished = !message.isCompleted;
  }

  get id(): string {
    return this.#message.id;
  }

  /** Whether opencode has reported the message as complete. */
  get isCompleted(): boolean {
    return this.#message.isCompleted;
  }

  /** The finish and error of the message so far. */
  get outcome(): LastMessage {
    const { finish, error } = this.#message;
    return { finish, error };
  }

  /** Takes a change of the message. Returns whether it is complete with all its parts. */
  update(message: AssistantMessage): boolean {
    this.#message = message;
    return message.isCompleted && this.#isFinished;
  }

  /** Records that the response has ended. */
  finish(): void {
    this.#isFinished = true;
  }

  /** Whether the request has ended before its usage was known, because its calls wait for a client. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** The usage of the message. */
  get usage(): Usage {
    return toUsage(this.#message.tokens);
  }

  /** Begins an attempt, unless one is running. */
  send(): ProgramEvent[] {
    if (this.#isSent || this.#isResting) return [];
    this.#isSent = true;
    return [{ type: 'request_started', key: this.#key, model: this.#message.model }];
  }

  /** Ends the attempt as failed: opencode sends the request again. */
  fail(): ProgramEvent[] {
    return this.#end({ usage: noUsage, stopReason: null, isError: true });
  }

  /** Ends the request if only calls are left that wait for a client: the agent is idle until the client acts. */
  rest(): ProgramEvent[] {
    const isGrowing = [...this.#blocks.values()].some(({ isStarted, isEnded }) => isStarted && !isEnded);
    if (!this.#isSent || isGrowing) return [];
    this.#isResting = true;
    return this.#end({ usage: noUsage, stopReason: 'tool_use', isError: false });
  }

  /** Ends the message in its newest state. An incomplete message was cut. `late` is usage of earlier messages. */
  end(late: Usage): ProgramEvent[] {
    const { finish, error, isCompleted } = this.#message;
    if (!isCompleted) return this.fail();
    const isError = error !== null || isFailedFinish(finish);
    return this.#end({ usage: addUsage(this.usage, late), stopReason: toStopReason(finish), isError });
  }

  /** Takes a complete part: new, grown without deltas, or ended. */
  takeText({ id, type, text, isWhole }: TextPart): ProgramEvent[] {
    const block = this.#blocks.get(id) ?? { type, grownChars: 0, tail: '', isStarted: false, isEnded: false };
    this.#blocks.set(id, block);
    if (block.isEnded) return [];
    if (!isWhole) return continues(text, block) ? this.grow(id, text.slice(block.grownChars)) : [];
    block.isEnded = true;
    if (text === '' && !block.isStarted) return [];
    const content =
      type === 'text' ? { type: 'text' as const, text } : { type: 'thinking' as const, thinking: text, signature: '' };
    return [...this.#start(id, block), { type: 'block_ended', key: this.#key, block: id, content }];
  }

  /** Takes a delta of a part. */
  grow(partId: string, piece: string): ProgramEvent[] {
    const block = this.#blocks.get(partId);
    if (block === undefined || block.isEnded || piece === '') return [];
    block.grownChars += piece.length;
    block.tail = (block.tail + piece).slice(-TAIL_CHARS);
    return [...this.#start(partId, block), { type: 'block_delta', key: this.#key, block: partId, text: piece }];
  }

  #start(name: string, block: Block): ProgramEvent[] {
    if (block.isStarted) return [];
    block.isStarted = true;
    this.#isResting = false;
    const kind = block.type === 'text' ? ('text' as const) : ('thinking' as const);
    return [...this.send(), { type: 'block_started', key: this.#key, block: name, kind }];
  }

  #end(end: { usage: Usage; stopReason: string | null; isError: boolean }): ProgramEvent[] {
    if (!this.#isSent) return [];
    this.#isSent = false;
    for (const block of this.#blocks.values()) block.isEnded = true;
    return [{ type: 'request_ended', key: this.#key, model: this.#message.model, ...end }];
  }
}

/** Whether the text continues the block. Compares the last characters only, so the whole text need not be kept. */
function continues(text: string, { grownChars, tail }: Block): boolean {
  return text.length >= grownChars && text.slice(grownChars - tail.length, grownChars) === tail;
}

const TAIL_CHARS = 200;

/** The sum of two usages. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWrite5mTokens: one.cacheWrite5mTokens + other.cacheWrite5mTokens,
    cacheWrite1hTokens: one.cacheWrite1hTokens + other.cacheWrite1hTokens,
  };
}

/** Converts token counts. opencode counts reasoning apart from the output; providers charge for it as output. */
function toUsage({ input, output, reasoning, cacheRead, cacheWrite }: Tokens): Usage {
  return {
    inputTokens: input,
    outputTokens: output + reasoning,
    cacheReadTokens: cacheRead,
    cacheWrite5mTokens: cacheWrite,
    cacheWrite1hTokens: 0,
  };
}
