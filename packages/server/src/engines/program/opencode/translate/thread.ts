import type { Usage } from '../../../model/engine.ts';
import { noUsage } from '../../../model/usage.ts';
import { programLimits } from '../../limits.ts';
import { GrowingOutput } from '../../lines/growing-output.ts';
import { MAIN, type ProgramCall, type ProgramEvent } from '../../program.ts';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import type { AskRequest, MessageInfo, OpencodeError, Part, SessionStatus } from '../wire/events.ts';
import { addUsage, OpenRequest } from './open-request.ts';
import { type LastMessage, toOutcome } from './to-outcome.ts';
import { toResult } from './to-result.ts';

type AssistantMessage = Extract<MessageInfo, { role: 'assistant' }>;
type ToolPart = Extract<Part, { type: 'tool' }>;

/** Options of the thread of one conversation. */
export interface ThreadOptions {
  /** The key of the thread in events. */
  readonly key: string;
  /** The states of the messages of all threads. */
  readonly messages: RecentMap<MessageState>;
  readonly now: () => number;
  /** How many times a model request is retried. opencode itself has no limit. */
  readonly retriesMax: number;
  /** Returns the HTTP status of a failed attempt by its message, because opencode does not report it. */
  readonly statusOf: (message: string) => number | null;
  /** Called when the run must be aborted, because its request was retried too often. */
  readonly onGiveUp: () => void;
  readonly toolOf: (name: string) => ProgramCall['tool'];
  readonly callIdOf: (partId: string, callId: string) => string;
  /** Called with the ask of a call. Returns whether the ask waits for a decision. */
  readonly onAsk: (request: AskRequest, callId: string, tool: ProgramCall['tool'], key: string) => boolean;
  /** Called when the agent has made a call. */
  readonly onCall?: ((callId: string, tool: ProgramCall['tool']) => void) | undefined;
  /** Returns the message of the denial of a call. */
  readonly denialOf?: ((callId: string) => string | undefined) | undefined;
  /** Called when a call has ended. Returns whether it still waited for a decision. */
  readonly onCallEnd: (callId: string) => boolean;
}

/** The state of a message. Messages from before the program was opened are `history`, and become no events. */
export type MessageState = 'user' | 'open' | 'ended' | 'history';

/** A call of the agent that has no result yet. */
interface OpenCall {
  readonly callId: string;
  /** opencode's id of the call. */
  readonly ownId: string;
  readonly tool: ProgramCall['tool'];
  readonly input: ProgramCall['input'];
  readonly output: GrowingOutput;
}

/** One conversation of opencode: its runs, model requests, blocks and calls as events. */
export class Thread {
  readonly key: string;
  readonly #options: ThreadOptions;
  /** The id of the newest message. Ids grow with time. */
  #newestId = '';
  readonly #calls = new Map<string, OpenCall>();
  readonly #ended = new Set<string>();
  /** Calls that wait for a decision of a client. */
  readonly #waiting = new Set<string>();
  readonly #asked = new RecentMap<true>({ entriesMax: programLimits.opencodeRequestsMax });
  /** Permission requests that arrived before their call. */
  #early: AskRequest[] = [];
  #request: OpenRequest | null = null;
  /** Usage of messages whose model request had ended before the usage was known. */
  #late: Usage = noUsage;
  #last: LastMessage | null = null;
  #lastId: string | null = null;
  #error: OpencodeError | null = null;
  /** Why the run was given up. */
  #fatal: OpencodeError | null = null;
  #prompt: string | null = null;
  #isRunning = false;
  /** The end of the run was reported while its message was open. */
  #isSettling = false;
  /** The run has ended, and its end will be reported once more. */
  #isSecondDue = false;
  /** The first run was announced with the thread. */
  #isAnnounced: boolean;

  constructor(options: ThreadOptions, { isAnnounced = false } = {}) {
    this.key = options.key;
    this.#options = options;
    this.#isAnnounced = isAnnounced;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Whether a second report of the run's end is due. After an abort or an error opencode reports it twice, before or after the end of the message.
   * A message that is sent to opencode in between is stored and not answered.
   */
  get isSettling(): boolean {
    return this.#isSettling || this.#isSecondDue;
  }

  /** Whether an error or an abort was reported for the run. */
  get hasFailed(): boolean {
    return this.#error !== null || (this.#request?.outcome ?? this.#last)?.error != null;
  }

  /** The id of the last message of the assistant. */
  get lastMessageId(): string | null {
    return this.#lastId;
  }

  takeStatus(status: SessionStatus): ProgramEvent[] {
    if (status.type === 'idle') return [];
    if (status.type === 'busy') {
      return [...this.#run(), ...(this.#request?.send() ?? [])];
    }
    const { attempt, message, next } = status;
    const { retriesMax, now, statusOf, onGiveUp } = this.#options;
    const begun = [...this.#run(), ...(this.#request?.fail() ?? [])];
    if (attempt > retriesMax) {
      this.#fatal ??= { name: 'APIError', message, statusCode: statusOf(message) };
      onGiveUp();
      return begun;
    }
    const delayMs = next === null ? 0 : Math.max(0, next - now());
    return [...begun, { type: 'retry', key: this.key, message, status: statusOf(message), delayMs, retriesMax }];
  }

  /** A complete message that is first seen while no run is open is history: opencode has copied it for a fork. */
  takeMessage(message: MessageInfo): ProgramEvent[] {
    const known = this.#stateOf(message.id);
    const isNewest = message.id > this.#newestId;
    if (isNewest) this.#newestId = message.id;
    if (message.role === 'user') {
      this.#note(message.id, 'user');
      return [];
    }
    if (known === 'open' && this.#request?.id === message.id)
      return this.#request.update(message) ? this.#endMessage() : [];
    if (known !== undefined) return [];
    if (!message.isCompleted || (this.#isRunning && isNewest)) return this.#beginMessage(message);
    this.#note(message.id, 'history');
    return [];
  }

  /** Records messages from before the program was opened, complete or not. */
  takeHistory(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#note(id, 'history');
      if (id > this.#newestId) this.#newestId = id;
    }
  }

  /** Whether a message was written while the stream of events was broken, or is still being written. */
  isMissed({ id }: MessageInfo): boolean {
    const known = this.#stateOf(id);
    return known === 'open' || (known === undefined && id > this.#newestId);
  }

  /** Whether opencode has stored a message of the user. */
  isStored(id: string): boolean {
    return this.#stateOf(id) === 'user';
  }

  takePart(part: Part): ProgramEvent[] {
    const state = this.#stateOf(part.messageId);
    if (state === 'user') {
      if (part.type === 'text' && !part.isSynthetic) this.#prompt = part.text;
      return [];
    }
    if (state === undefined || state === 'history' || part.type === 'other') return [];
    if (part.type === 'tool') return this.#takeCall(part);
    if (this.#request?.id !== part.messageId) return [];
    if (part.type !== 'step-finish') return this.#request.takeText(part);
    this.#request.finish();
    return [];
  }

  takeDelta(messageId: string, partId: string, text: string): ProgramEvent[] {
    return this.#request?.id === messageId ? this.#request.grow(partId, text) : [];
  }

  takeError(error: OpencodeError): void {
    this.#error = error;
  }

  /** Takes an ask once: it is seen again after a break of the stream. */
  takeAsk(request: AskRequest): ProgramEvent[] {
    if (this.#asked.has(request.id)) return [];
    this.#asked.set(request.id, true);
    const call = [...this.#calls.values()].findLast(({ ownId }) => ownId === request.callId);
    if (call !== undefined) return this.#ask(call, request);
    this.#early.push(request);
    if (this.#early.length > programLimits.opencodeRequestsMax) this.#early.shift();
    return [];
  }

  /** Takes a report of the run's end. Returns whether the run is over. It is not while a message is open: the report was early or for another run. */
  takeIdle(): boolean {
    if (!this.#isRunning) {
      this.#isSecondDue = false;
      return false;
    }
    const isOpen = this.#request !== null && !this.#request.isCompleted;
    if (!isOpen || (this.#isSettling && this.hasFailed)) {
      this.#isSecondDue = this.hasFailed && !this.#isSettling;
      return true;
    }
    this.#isSettling = true;
    return false;
  }

  /** Keeps the run open: the report of its end belonged to the previous run. */
  unsettle(): void {
    this.#isSettling = false;
  }

  /** Ends the run with all its open calls and messages. */
  settle({ isMoreToCome = false } = {}): ProgramEvent[] {
    if (!this.#isRunning) {
      this.#isSecondDue = false;
      return [];
    }
    const closed = this.#endMessage();
    const ended = [...this.#calls].flatMap(([partId, call]) => this.#endCall(partId, call, stopped));
    const outcome = toOutcome(this.#fatal === null ? this.#last : { finish: null, error: this.#fatal }, this.#error);
    this.#isRunning = false;
    this.#isSettling = false;
    this.#early = [];
    return [...closed, ...ended, this.#toEnd(outcome, isMoreToCome)];
  }

  /** Ends the model request if all open calls wait for a client or for a sub-agent. opencode reports its usage after their results. */
  rest(): ProgramEvent[] {
    const open = [...this.#calls.values()];
    const isWaiting = ({ callId, tool }: OpenCall) =>
      tool.kind === 'agent' || isServed(tool) || this.#waiting.has(callId);
    return open.length > 0 && open.every(isWaiting) ? (this.#request?.rest() ?? []) : [];
  }

  #stateOf(messageId: string): MessageState | undefined {
    return this.#options.messages.get(`${this.key} ${messageId}`);
  }

  #note(messageId: string, state: MessageState): void {
    this.#options.messages.set(`${this.key} ${messageId}`, state);
  }

  /** Begins the run, unless it has begun. */
  #run(): ProgramEvent[] {
    if (this.#isRunning) return [];
    const isAnnounced = this.#isAnnounced;
    this.#isRunning = true;
    this.#isSecondDue = false;
    this.#isAnnounced = false;
    this.#last = null;
    this.#error = null;
    this.#fatal = null;
    if (this.key === MAIN) return [{ type: 'turn_started', key: MAIN }];
    return isAnnounced ? [] : [{ type: 'thread_started', key: this.key, prompt: this.#prompt }];
  }

  #beginMessage(message: AssistantMessage): ProgramEvent[] {
    const closed = this.#endMessage();
    this.#note(message.id, 'open');
    this.#request = new OpenRequest(this.key, message);
    this.#lastId = message.id;
    this.#last = { finish: null, error: null };
    return [...closed, ...this.#run(), ...this.#request.send()];
  }

  /** Ends the open message in its newest state. */
  #endMessage(): ProgramEvent[] {
    const request = this.#request;
    if (request === null) return [];
    this.#request = null;
    this.#note(request.id, 'ended');
    if (request.isCompleted) this.#last = request.outcome;
    const ended = request.end(this.#late);
    if (request.isResting) this.#late = addUsage(this.#late, request.usage);
    else if (request.isCompleted) this.#late = noUsage;
    return ended;
  }

  #takeCall({ id, callId: ownId, tool: name, state }: ToolPart): ProgramEvent[] {
    if (state.status === 'pending' || this.#ended.has(id)) return [];
    const begun = this.#calls.has(id) ? [] : this.#beginCall(id, ownId, name, state.input);
    const call = this.#calls.get(id);
    if (call === undefined) return begun;
    if (state.status === 'running') return [...begun, ...this.#show(call, state.shown)];
    return [...begun, ...this.#endCall(id, call, toResult(state))];
  }

  #show({ callId, output }: OpenCall, shown: string): ProgramEvent[] {
    const text = shown === '' ? '' : output.take(shown);
    return text === '' ? [] : [{ type: 'output_delta', key: this.key, callId, text }];
  }

  #beginCall(partId: string, ownId: string, name: string, input: ProgramCall['input']): ProgramEvent[] {
    const tool = this.#options.toolOf(name);
    const callId = this.#options.callIdOf(partId, ownId);
    const call: OpenCall = { callId, ownId, tool, input, output: new GrowingOutput() };
    this.#calls.set(partId, call);
    this.#options.onCall?.(callId, tool);
    const early = this.#early.filter((request) => request.callId === ownId);
    this.#early = this.#early.filter((request) => request.callId !== ownId);
    const asks = early.flatMap((request) => this.#ask(call, request));
    return [{ type: 'call', key: this.key, callId, name, input, tool }, ...asks];
  }

  #endCall(partId: string, { callId }: OpenCall, result: ReturnType<typeof toResult>): ProgramEvent[] {
    this.#calls.delete(partId);
    this.#waiting.delete(callId);
    this.#ended.add(partId);
    const denial = this.#options.denialOf?.(callId);
    const isWithdrawn = this.#options.onCallEnd(callId);
    const withdrawn = isWithdrawn ? [{ type: 'ask_withdrawn' as const, key: this.key, callId }] : [];
    // opencode puts a sentence of its own before the reason, and has no reason if several calls were denied at once.
    const shown =
      denial === undefined || !result.isError
        ? result
        : { ...result, content: [{ type: 'text' as const, text: denial }] };
    return [...withdrawn, { type: 'result', key: this.key, callId, ...shown }];
  }

  #ask({ callId, tool, input }: OpenCall, request: AskRequest): ProgramEvent[] {
    if (!this.#options.onAsk(request, callId, tool, this.key)) return [];
    this.#waiting.add(callId);
    const kind = request.kind === 'question' ? 'question' : 'tool';
    return [{ type: 'ask', key: this.key, callId, kind, reason: toReason(request), input }];
  }

  #toEnd(outcome: ReturnType<typeof toOutcome>, isMoreToCome: boolean): ProgramEvent {
    const message = this.#lastId === null ? {} : { message: this.#lastId };
    if (this.key === MAIN) return { type: 'turn_ended', key: MAIN, outcome, isMoreToCome, ...message };
    const status = outcome.type === 'done' ? 'completed' : outcome.type === 'stopped' ? 'stopped' : 'failed';
    const error = 'message' in outcome ? outcome.message : null;
    return { type: 'thread_ended', key: this.key, status, error };
  }
}

/** Whether the tool is a custom tool, whose result a client sends. */
export function isServed(tool: ProgramCall['tool']): boolean {
  return tool.kind === 'custom' && tool.isQuestion !== true;
}

const stopped = { content: [{ type: 'text' as const, text: 'The call was stopped.' }], isError: true };

/** The reason of an ask that is not for the call itself; null otherwise. */
function toReason({ permission }: AskRequest): string | null {
  return permission === 'external_directory' || permission === 'doom_loop' ? permission : null;
}
