import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import type { Usage } from '../engine.ts';
import type { ProgramEvent } from '../program.ts';
import { addUsage, noUsage, subtractUsage, toUsage } from './usage.ts';
import { record, text } from './values.ts';

interface OpenRequest {
  readonly messageId: string;
  readonly model: string;
  /** Its end will be told. Of others it is known only when something else begins. */
  readonly isStreamed: boolean;
  usage: Usage;
  stopReason: string | null;
}

/**
 * Model requests as far as the lines tell of them. Those of the main agent stream, so that their end and what they took is
 * known. Of sub-agents there are only whole lines, with what was known at the beginning. What they took the gateway sees;
 * without it, it comes out when the turn of the main agent ends, in one sum, and is counted with its last request.
 */
export class Requests {
  readonly #open = new Map<string, OpenRequest>();
  /** The last one of each agent: a line of it may come when it was taken to be over. */
  readonly #last = new Map<string, { readonly messageId: string; readonly usage: Usage }>();
  /** What requests were said to have taken, and what they have taken. */
  #told = noUsage;
  #total = noUsage;
  /** Newer programs count on from where an earlier process was, so that their first count says nothing. */
  #isFirstCountTotal: boolean;

  constructor({ isResumed = false } = {}) {
    this.#isFirstCountTotal = isResumed;
  }

  /** What a line begins. */
  before(key: string, line: StreamJsonMessage): ProgramEvent[] {
    if (line.type === 'assistant') return this.#line(key, record(line['message']));
    const event = record(line['event']);
    if (line.type !== 'stream_event' || event?.['type'] !== 'message_start') return [];
    return this.#start(key, record(event['message']), true);
  }

  /** What a line ends. */
  after(key: string, line: StreamJsonMessage): ProgramEvent[] {
    const event = line.type === 'stream_event' ? record(line['event']) : undefined;
    const open = this.#open.get(key);
    // The last one of a turn is held until the turn has ended: what nobody was told of is added to it.
    if (event?.['type'] === 'message_stop') return open?.stopReason === 'tool_use' ? this.end(key) : [];
    if (event?.['type'] !== 'message_delta' || open === undefined) return [];
    open.usage = toUsage(record(event['usage']), open.usage);
    open.stopReason = text(record(event['delta'])?.['stop_reason']) ?? open.stopReason;
    return [];
  }

  /** The message that the agent is being answered with. */
  messageOf(key: string): string | undefined {
    return this.#open.get(key)?.messageId;
  }

  /** The gateway saw a request begin. Its lines come later. */
  begin(key: string, { messageId, model, usage }: Pick<OpenRequest, 'messageId' | 'model' | 'usage'>): ProgramEvent[] {
    if (this.#open.get(key)?.messageId === messageId) return [];
    const before = this.end(key);
    this.#open.set(key, { messageId, model, isStreamed: false, usage, stopReason: null });
    return [...before, { type: 'request_started', key, model }];
  }

  /** The gateway saw what it took. */
  tell(key: string, messageId: string, usage: Usage, stopReason: string | null): void {
    const open = this.#open.get(key);
    if (open?.messageId !== messageId) return;
    open.usage = usage;
    open.stopReason = stopReason ?? open.stopReason;
  }

  /** The agent does something that it can only do behind a request. Where the end will be told, that is waited for. */
  endUntold(key: string): ProgramEvent[] {
    return this.#open.get(key)?.isStreamed === false ? this.end(key) : [];
  }

  /** It is over, or was cut off. */
  end(key: string, isError = false): ProgramEvent[] {
    const open = this.#open.get(key);
    if (open === undefined) return [];
    this.#open.delete(key);
    const { model, stopReason, messageId, isStreamed } = open;
    // Of one that streams the reason to stop is told. Where it is not, the answer was cut off.
    const isCut = isStreamed && stopReason === null;
    const last = this.#last.get(key);
    const before = last?.messageId === messageId ? last.usage : noUsage;
    const usage = subtractUsage(open.usage, before);
    this.#last.set(key, { messageId, usage: addUsage(before, usage) });
    this.#told = addUsage(this.#told, usage);
    return [{ type: 'request_ended', key, model, usage, stopReason, isError: isError || isCut }];
  }

  /** The turn of an agent has ended, and all agents together took this much more. It counts what was not told of them. */
  endTurn(key: string, more: Usage, isError: boolean): ProgramEvent[] {
    const open = this.#open.get(key);
    const told = addUsage(this.#told, open?.usage ?? noUsage);
    this.#total = this.#isFirstCountTotal ? told : addUsage(this.#total, more);
    this.#isFirstCountTotal = false;
    if (open === undefined) return [];
    open.usage = addUsage(open.usage, subtractUsage(this.#total, told));
    return this.end(key, isError);
  }

  #line(key: string, message: Record<string, unknown> | undefined): ProgramEvent[] {
    const open = this.#open.get(key);
    if (open?.messageId !== text(message?.['id'])) return this.#start(key, message, false);
    return [];
  }

  #start(key: string, message: Record<string, unknown> | undefined, isStreamed: boolean): ProgramEvent[] {
    const messageId = text(message?.['id']);
    const model = text(message?.['model']) ?? 'unknown';
    // What the program says itself was no request.
    if (messageId === undefined || model === SYNTHETIC) return [];
    const before = this.end(key);
    const usage = toUsage(record(message?.['usage']), noUsage);
    this.#open.set(key, { messageId, model, isStreamed, usage, stopReason: text(message?.['stop_reason']) ?? null });
    return [...before, { type: 'request_started', key, model }];
  }
}

const SYNTHETIC = '<synthetic>';
