import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import type { Usage } from '../../../model/engine.ts';
import type { ProgramEvent } from '../../program.ts';
import { followGateway } from './follow-gateway.ts';
import type { GatewayEvent } from '../../gateway/events.ts';
import { type HeldAnswer, HeldAnswers } from './held-answers.ts';
import { type AnswerFacts, type LinePlace, OpenAnswer } from './open-answer.ts';
import type { TextKind } from './open-block.ts';
import { RequestUsage } from './request-usage.ts';
import { addUsage, noUsage, toUsage } from './usage.ts';
import { record, text } from '../../lines/values.ts';

interface AnsweredThread {
  open: OpenAnswer | undefined;
  /** The id of the gateway's request that returned the open response. */
  requestId: string | undefined;
  /** The message id of the last response, if its lines came before the gateway's events: only a line of the next response shows that it has ended. */
  printedId: string | undefined;
  readonly held: HeldAnswers;
}

/** The state that decides whether events of the gateway may be emitted. */
export interface TapState {
  /** The thread was opened, and has not ended since. */
  readonly isRunning: boolean;
  /** Whether a call of the thread has no result yet, so its next response is not due. */
  readonly isCalling: () => boolean;
  /** The queue of the reader is full. */
  readonly isFull: boolean;
}

/**
 * The open response of each thread, and its model request. Lines and gateway events are matched here: the gateway
 * is ahead of the lines, so a response that it sees is held until the previous response is complete and the results of its calls were
 * emitted. A line of a response opens it, whatever came before.
 */
export class Answers {
  readonly #threads = new Map<string, AnsweredThread>();
  readonly #usage: RequestUsage;

  constructor({ isResumed = false } = {}) {
    this.#usage = new RequestUsage({ isResumed });
  }

  /** The open response of the thread. */
  openOf(key: string): OpenAnswer | undefined {
    return this.#threads.get(key)?.open;
  }

  /** Called before the content of a line is taken. Returns the events of the model request that the line begins. */
  before(key: string, line: StreamJsonMessage): ProgramEvent[] {
    const event = record(line['event']);
    const isStart = line.type === 'stream_event' && event?.['type'] === 'message_start';
    if (line.type !== 'assistant' && !isStart) return [];
    const message = record(isStart ? event['message'] : line['message']);
    const messageId = text(message?.['id']);
    const model = text(message?.['model']) ?? 'unknown';
    // A text of the program itself is not a response of a model.
    if (messageId === undefined || model === OWN_WORDS) return [];
    const thread = this.#thread(key);
    if (!isStart && this.#isKnown(thread, key, messageId)) return [];
    const held = thread.held.takeUntil(messageId);
    if (held !== undefined) return this.#openHeld(key, held, false);
    if (!isStart) thread.printedId = messageId;
    // Messages of a thread do not interleave, so an open response without a line is the newest: this line belongs to an earlier response.
    if (thread.open?.source === 'gateway' && !thread.open.isPrinted && !thread.open.isFailed) return [];
    const source = isStart ? 'stream' : 'lines';
    const stopReason = text(message?.['stop_reason']) ?? null;
    const usage = toUsage(record(message?.['usage']), noUsage);
    return this.begin(key, { messageId, model, source, usage, stopReason });
  }

  /** Called after the content of a line is taken. Returns the events of blocks and requests that the line ends. */
  after(key: string, line: StreamJsonMessage): ProgramEvent[] {
    const open = this.openOf(key);
    if (open === undefined) return [];
    if (open.messageId === OWN_WORDS) return this.end(key);
    // Only the main agent streams, one block at a time, so the line belongs to the open block.
    if (line.type === 'assistant') return open.source === 'stream' ? open.endBlocks() : [];
    const event = line.type === 'stream_event' ? record(line['event']) : undefined;
    if (event?.['type'] === 'content_block_stop') return open.stopAll();
    if (event?.['type'] === 'message_delta') {
      open.usage = toUsage(record(event['usage']), open.usage);
      open.stopReason = text(record(event['delta'])?.['stop_reason']) ?? open.stopReason;
    }
    // The last request of a turn stays open until the turn has ended: usage that no request reported is added to it.
    return event?.['type'] === 'message_stop' && open.stopReason === 'tool_use' ? this.end(key) : [];
  }

  begin(key: string, facts: AnswerFacts): ProgramEvent[] {
    const ended = this.end(key);
    this.#thread(key).open = new OpenAnswer(key, facts);
    return [...ended, { type: 'request_started', key, model: facts.model }];
  }

  /** Takes a complete text from a line. A text of the program itself has no model request, so one is opened for it. */
  whole(key: string, place: LinePlace, kind: TextKind, content: string): ProgramEvent[] {
    const begun = this.openOf(key) === undefined ? this.begin(key, ownWords) : [];
    const open = this.openOf(key)!;
    const said =
      open.source === 'stream' ? open.add(place.name, kind, content, false) : open.settle(place, kind, content);
    return [...begun, ...said];
  }

  /** Takes an event of the gateway. */
  tap(key: string, event: GatewayEvent, state: TapState): ProgramEvent[] {
    const thread = this.#thread(key);
    const isBegun = event.event.type === 'begun';
    // An endpoint may answer a repeated request with the same message id: the lines to come belong to the second response.
    const isRepeated = isBegun && thread.open?.messageId === event.messageId && thread.open.isFailed;
    const ended = isRepeated && !thread.open!.isPrinted ? this.end(key) : [];
    const isLate = isBegun && event.messageId === thread.printedId;
    // The lines of this response came first and contain all of its content: the gateway adds the usage.
    if (isLate && thread.open?.messageId === event.messageId) thread.requestId = event.requestId;
    const isOpen = thread.open !== undefined && thread.requestId === event.requestId;
    const events = isOpen ? followGateway(thread.open!, event, state.isFull) : [];
    if (!isOpen && !isLate) thread.held.push(event);
    return [...ended, ...events, ...this.release(key, state)];
  }

  /** Ends the open response if it is complete, and opens the next one when it is due. */
  release(key: string, { isRunning, isCalling, isFull }: TapState): ProgramEvent[] {
    const thread = this.#threads.get(key);
    if (thread === undefined) return [];
    const events: ProgramEvent[] = [];
    while (true) {
      if (thread.open?.isWhole === true) events.push(...this.end(key));
      if (thread.open !== undefined || thread.held.isEmpty || thread.printedId !== undefined) return events;
      if (!isRunning || isCalling()) return events;
      for (const event of this.#openHeld(key, thread.held.takeFirst()!, isFull)) events.push(event);
    }
  }

  /** Ends a response whose end nothing announces: the thread has done something that comes after a response. */
  endUnannounced(key: string): ProgramEvent[] {
    return this.openOf(key)?.source === 'lines' ? this.end(key) : [];
  }

  /** Ends the open model request, complete or cut off. Blocks without a line are void: the program does not keep them either. */
  end(key: string, isError = false): ProgramEvent[] {
    const thread = this.#threads.get(key);
    if (thread?.open === undefined) return [];
    const { model, stopReason, messageId, source, isFailed, usage } = thread.open;
    thread.open = undefined;
    thread.requestId = undefined;
    // A stream reports its stop reason. Without a stop reason, the response was cut off.
    const isCut = isFailed || (source === 'stream' && stopReason === null);
    const used = this.#usage.report(key, messageId, usage);
    return [{ type: 'request_ended', key, model, usage: used, stopReason, isError: isError || isCut }];
  }

  /** Ends the turn of the main agent. `turn` is the usage of all agents in it. */
  endTurn(key: string, turn: Usage, isError: boolean): ProgramEvent[] {
    const open = this.openOf(key);
    const unreported = this.#usage.count(turn, open?.usage ?? noUsage);
    if (open !== undefined) open.usage = addUsage(open.usage, unreported);
    return this.end(key, isError);
  }

  /** Ends the open request of a thread that has ended, and forgets the thread. */
  close(key: string, isError: boolean): ProgramEvent[] {
    const ended = this.end(key, isError);
    this.#threads.delete(key);
    return ended;
  }

  /** Whether the line belongs to the open response, or to the previous one, which counts as ended. */
  #isKnown({ open }: AnsweredThread, key: string, messageId: string): boolean {
    return open?.messageId === messageId || (open !== undefined && this.#usage.lastMessageOf(key) === messageId);
  }

  #openHeld(key: string, { requestId, messageId, events }: HeldAnswer, isFull: boolean): ProgramEvent[] {
    const [begun, ...rest] = events;
    const usage = begun?.event.type === 'begun' ? begun.event.usage : noUsage;
    const started = this.begin(key, { messageId, model: begun?.model ?? 'unknown', source: 'gateway', usage });
    const thread = this.#thread(key);
    thread.requestId = requestId;
    thread.printedId = undefined;
    for (const event of rest) for (const each of followGateway(thread.open!, event, isFull)) started.push(each);
    return started;
  }

  #thread(key: string): AnsweredThread {
    const thread = this.#threads.get(key) ?? createThread();
    this.#threads.set(key, thread);
    return thread;
  }
}

const OWN_WORDS = '<synthetic>';
const ownWords: AnswerFacts = { messageId: OWN_WORDS, model: OWN_WORDS, source: 'lines', usage: noUsage };

function createThread(): AnsweredThread {
  return { open: undefined, requestId: undefined, printedId: undefined, held: new HeldAnswers() };
}
