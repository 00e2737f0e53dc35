import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import { noUsage } from '../../../model/usage.ts';
import type { Usage } from '../../../model/engine.ts';
import type { ProgramEvent } from '../../program.ts';
import type { MessageInfo, Part, Tokens } from '../wire/events.ts';
import { isFailedFinish, type LastMessage, toStopReason } from './to-outcome.ts';

type AssistantMessage = Extract<MessageInfo, { role: 'assistant' }>;
type TextPart = Extract<Part, { type: 'text' | 'reasoning' }>;

/** A text or thought that grows, or has ended. */
interface Block {
  readonly type: TextPart['type'];
  /** How much has grown, and the end of it. */
  grownChars: number;
  tail: string;
  isStarted: boolean;
  isEnded: boolean;
}

/**
 * A message of the assistant that is being written. Each attempt of opencode to get it is a model request: one that was cut ends as an
 * error, its growing blocks are void, and the next attempt has new parts in the same message.
 */
export class OpenRequest {
  readonly #key: string;
  /** The message as it was last seen. */
  #message: AssistantMessage;
  /** The end of the response was seen. */
  #isFinished: boolean;
  /** Growing and ended blocks, by the id of their part. */
  readonly #blocks = new RecentMap<Block>({ entriesMax: programLimits.programBlocksMax });
  #isSent = false;
  #isResting = false;

  /**
   * Opencode may write an event after it has changed what the event is about: a message that is complete when it is first seen still gets
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

  /** Whether the message is complete, as far as opencode says. */
  get isCompleted(): boolean {
    return this.#message.isCompleted;
  }

  /** How the message ends, as far as it is known. */
  get outcome(): LastMessage {
    const { finish, error } = this.#message;
    return { finish, error };
  }

  /** The message was changed. Whether it is complete with all its parts. */
  update(message: AssistantMessage): boolean {
    this.#message = message;
    return message.isCompleted && this.#isFinished;
  }

  /** The end of the response was seen. */
  finish(): void {
    this.#isFinished = true;
  }

  /** The request has ended before its usage was known, because its calls wait for a client. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** What the message has used. */
  get usage(): Usage {
    return toUsage(this.#message.tokens);
  }

  /** An attempt begins, unless one is under way. */
  send(): ProgramEvent[] {
    if (this.#isSent || this.#isResting) return [];
    this.#isSent = true;
    return [{ type: 'request_started', key: this.#key, model: this.#message.model }];
  }

  /** The attempt has failed, and opencode sends the request again. */
  fail(): ProgramEvent[] {
    return this.#end({ usage: noUsage, stopReason: null, isError: true });
  }

  /** Nothing is left of the response but calls that wait for a client: the agent is idle until the client acts. */
  rest(): ProgramEvent[] {
    const isGrowing = [...this.#blocks.values()].some(({ isStarted, isEnded }) => isStarted && !isEnded);
    if (!this.#isSent || isGrowing) return [];
    this.#isResting = true;
    return this.#end({ usage: noUsage, stopReason: 'tool_use', isError: false });
  }

  /** The message ends as it was last seen. One that is not complete was cut. `late` is usage of earlier messages. */
  end(late: Usage): ProgramEvent[] {
    const { finish, error, isCompleted } = this.#message;
    if (!isCompleted) return this.fail();
    const isError = error !== null || isFailedFinish(finish);
    return this.#end({ usage: addUsage(this.usage, late), stopReason: toStopReason(finish), isError });
  }

  /** A part as a whole: new, grown without deltas, or complete. */
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

  /** A part grows by a piece. */
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

/** Not compared with all that has grown, which would have to be kept. */
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

/** Opencode counts reasoning apart from the output; providers charge for it as output. */
function toUsage({ input, output, reasoning, cacheRead, cacheWrite }: Tokens): Usage {
  return {
    inputTokens: input,
    outputTokens: output + reasoning,
    cacheReadTokens: cacheRead,
    cacheWrite5mTokens: cacheWrite,
    cacheWrite1hTokens: 0,
  };
}
