import type { Json } from '../../../../base/json/json.ts';
import type { Usage } from '../../../model/engine.ts';
import { noUsage } from '../../../model/usage.ts';
import { nameIn, record, records, text } from '../../lines/values.ts';
import type { ProgramEvent } from '../../program.ts';
import type { CallPolicy } from '../approvals/call-policy.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';
import type { CallIds } from './call-ids.ts';
import { GrowingBlocks } from './growing-blocks.ts';
import { toCall, toResult } from './to-call.ts';
import { UsageCount } from './usage-count.ts';

/** Options of folding a thread. */
export interface ThreadFoldOptions {
  readonly threadId: string;
  /** The key of the agent in events. */
  readonly key: string;
  readonly model: string;
  readonly policy: CallPolicy;
  readonly callIds: CallIds;
  readonly emit: (event: ProgramEvent) => void;
  /** Returns why the call was denied; undefined if it was not. */
  readonly denialOf: (callId: string) => string | undefined;
}

/** A call without a result. */
export interface OpenCall {
  readonly input: Json;
  readonly callId: string;
  readonly itemId: string;
  readonly item: Fields;
  /** Codex has requested permission for the call. It does so once for each call. */
  isAsked: boolean;
}

/**
 * One thread of Codex: its items become model requests, blocks, calls and results. Codex reports neither the start of a model
 * request nor every end of an item, so this class makes them up: a request starts with its first item and ends when the usage grows,
 * and a call without a result gets one when its turn ends. Usage is reported after the results of the calls, so a request
 * whose calls all wait for a client ends before its usage is known, which is then added to the next request.
 */
export class ThreadFold {
  readonly #options: ThreadFoldOptions;
  /** The id of the running turn. */
  turnId: string | null = null;
  /** The id of the previous turn. */
  endedTurnId: string | null = null;
  /** The model of the thread's requests. */
  model: string;
  #hasRequest = false;
  /** The last request ended because its calls wait for a client, and its usage was not reported yet. */
  #isUsageLate = false;
  /** Usage that was reported after the end of its request. */
  #late: Usage = noUsage;
  /** Calls that wait for a client. */
  readonly #waiting = new Set<string>();
  readonly #blocks: GrowingBlocks;
  readonly #usage = new UsageCount();
  readonly #calls = new Map<string, OpenCall>();
  /** The completed items of the turn. */
  readonly #closed = new Set<string>();
  /** Work ids of commands that continue after their turn, by item id. */
  readonly #background = new Map<string, string>();

  constructor(options: ThreadFoldOptions) {
    this.#options = options;
    this.model = options.model;
    const { key, emit } = options;
    this.#blocks = new GrowingBlocks((event) => {
      this.#openRequest();
      emit({ key, ...event });
    });
  }

  get key(): string {
    return this.#options.key;
  }

  get threadId(): string {
    return this.#options.threadId;
  }

  get policy(): CallPolicy {
    return this.#options.policy;
  }

  startItem(item: Fields): void {
    const id = idOf(item);
    if (item['type'] === 'agentMessage' || item['type'] === 'reasoning') {
      this.#openRequest();
      this.#closed.delete(id);
      this.#blocks.start(id, item['type']);
    } else if (!this.#calls.has(id)) this.#openCall(id, item);
  }

  completeItem(item: Fields, turnId: string | undefined): void {
    const { emit, key } = this.#options;
    const id = idOf(item);
    if (isWithoutResult(item)) {
      // A repeated line changes nothing.
      if (this.#closed.has(id)) return;
      this.#closed.add(id);
      return item['type'] === 'contextCompaction' ? emit({ key, type: 'compacted' }) : this.#blocks.end(id, item);
    }
    const work = this.#background.get(id);
    if (work !== undefined) {
      this.#background.delete(id);
      const outcome = toResult(item).isError ? 'failed' : 'completed';
      return emit({ key, type: 'work_ended', workId: work, outcome });
    }
    // The result of this call was made up when its turn ended.
    if (!this.#calls.has(id) && (turnId !== this.turnId || this.#closed.has(id))) return;
    const call = this.#calls.get(id) ?? this.#openCall(id, item);
    if (call !== undefined) this.#closeCall(call, item);
  }

  /** Adds a delta to a text or thinking block. `part` is the number of the paragraph of a thinking block. */
  grow(itemId: string, source: 'text' | 'summary' | 'content', delta: string, part: number): void {
    this.#openRequest();
    this.#blocks.grow(itemId, source, delta, part);
  }

  /** Emits output of a running command. */
  show(itemId: string, text: string): void {
    const { emit, key } = this.#options;
    const call = this.#calls.get(itemId);
    if (call !== undefined && text !== '') emit({ key, type: 'output_delta', callId: call.callId, text });
  }

  /** Adds a call that no item describes, because Codex only requests permission for it. */
  addCall(itemId: string, facts: Pick<Extract<ProgramEvent, { type: 'call' }>, 'name' | 'input' | 'tool'>): string {
    const { callIds, emit, key } = this.#options;
    if (!this.#isUsageLate) this.#openRequest();
    const callId = callIds.add(this.threadId, itemId);
    emit({ key, type: 'call', callId, ...facts });
    return callId;
  }

  /** The open call of an item. */
  callOf(itemId: string): OpenCall | undefined {
    return this.#calls.get(itemId);
  }

  /** The input of an open call. */
  inputOf(callId: string): Json {
    return [...this.#calls.values()].find((call) => call.callId === callId)?.input ?? null;
  }

  /** The open calls, newest first. */
  get openCalls(): readonly OpenCall[] {
    return [...this.#calls.values()].toReversed();
  }

  /** Takes a report of the total usage of the thread. */
  count(tokenUsage: unknown, turnId: string | undefined): void {
    const usage = this.#usage.take(tokenUsage, this.turnId !== null && turnId === this.turnId);
    if (usage === null) return;
    const isLate = this.#isUsageLate && !this.#hasRequest;
    this.#isUsageLate = false;
    if (isLate) return void (this.#late = addUsage(this.#late, usage));
    this.#openRequest();
    this.#endRequest({ usage, isError: false });
  }

  /** Marks a call as waiting for a decision or result of a client. */
  wait(callId: string): void {
    this.#waiting.add(callId);
  }

  /** Marks a call as no longer waiting for a client. */
  go(callId: string): void {
    this.#waiting.delete(callId);
  }

  /** Ends a request if only calls are left that wait for a client: the agent is idle until the client acts. */
  rest(): void {
    const open = [...this.#calls.values()];
    const isWaiting = this.#waiting.size > 0 && open.every(({ callId }) => this.#waiting.has(callId));
    if (!isWaiting || !this.#hasRequest || !this.#blocks.isEmpty) return;
    this.#isUsageLate = true;
    this.#endRequest({ usage: noUsage, isError: false });
  }

  /** Ends a model request that failed and is sent again: its deltas are void. */
  failRequest(): void {
    this.#blocks.drop();
    if (this.#hasRequest) this.#endRequest({ usage: noUsage, isError: true });
    this.#isUsageLate = false;
  }

  /** Ends calls, blocks and the request that the turn leaves open. */
  endTurn(status: string): void {
    const { emit, key } = this.#options;
    for (const call of this.#calls.values()) this.#endOwed(call, status);
    this.#calls.clear();
    this.#waiting.clear();
    this.#blocks.drop();
    const isLate = this.#late !== noUsage && !this.#hasRequest;
    if (isLate) this.#openRequest();
    if (this.#hasRequest) this.#endRequest({ usage: noUsage, isError: status !== 'completed' && !isLate });
    this.#isUsageLate = false;
    for (const [itemId, workId] of status === 'completed' ? [] : this.#background) {
      this.#background.delete(itemId);
      emit({ key, type: 'work_ended', workId, outcome: 'stopped' });
    }
    this.endedTurnId = this.turnId;
    this.turnId = null;
    this.#closed.clear();
  }

  #openCall(id: string, item: Fields): OpenCall | undefined {
    const { policy, callIds, emit, key } = this.#options;
    const facts = toCall(item, policy);
    if (facts === null) return undefined;
    // If usage is late, these are further calls of a request that ended because its first calls wait for a client.
    if (!this.#isUsageLate) this.#openRequest();
    const call: OpenCall = {
      callId: callIds.add(this.threadId, id),
      itemId: id,
      item: toKept(item),
      input: facts.input,
      isAsked: false,
    };
    this.#calls.set(id, call);
    this.#closed.delete(id);
    emit({ key, type: 'call', callId: call.callId, ...facts });
    if (facts.tool.kind === 'custom') this.wait(call.callId);
    return call;
  }

  #closeCall({ callId, itemId }: OpenCall, item: Fields): void {
    const { emit, key, denialOf } = this.#options;
    this.#calls.delete(itemId);
    this.#closed.add(itemId);
    this.go(callId);
    const { content, isError } = toResult(item);
    const denial = isError ? denialOf(callId) : undefined;
    const shown = denial === undefined ? content : [{ type: 'text' as const, text: denial }];
    emit({ key, type: 'result', callId, content: shown, isError });
  }

  /** Ends a call whose item never completed. A command that a finished turn leaves running continues in the background. */
  #endOwed({ callId, itemId, item }: OpenCall, status: string): void {
    const { emit, key } = this.#options;
    const isBackground = status === 'completed' && item['type'] === 'commandExecution';
    const words = isBackground ? 'The command goes on in the background.' : (OWED[status] ?? OWED['failed']!);
    emit({ key, type: 'result', callId, content: [{ type: 'text', text: words }], isError: !isBackground });
    if (!isBackground) return;
    this.#background.set(itemId, callId);
    const description = text(item['command']) ?? 'a command';
    emit({ key, type: 'work_started', workId: callId, kind: 'command', description, until: null });
  }

  #openRequest(): void {
    if (this.#hasRequest) return;
    this.#hasRequest = true;
    this.#options.emit({ key: this.key, type: 'request_started', model: this.model });
  }

  #endRequest(end: Pick<Extract<ProgramEvent, { type: 'request_ended' }>, 'usage' | 'isError'>): void {
    this.#hasRequest = false;
    const usage = addUsage(end.usage, this.#late);
    this.#late = noUsage;
    this.#options.emit({ key: this.key, type: 'request_ended', model: this.model, stopReason: null, ...end, usage });
  }
}

const OWED: { readonly [status: string]: string | undefined } = {
  completed: 'The turn ended before the call had a result.',
  interrupted: 'The call was stopped.',
  failed: 'The turn failed before the call had a result.',
};

function addUsage(one: Usage, other: Usage): Usage {
  if (other === noUsage) return one;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWrite5mTokens: one.cacheWrite5mTokens + other.cacheWrite5mTokens,
    cacheWrite1hTokens: one.cacheWrite1hTokens + other.cacheWrite1hTokens,
  };
}

/** Whether the item is not a call. */
function isWithoutResult({ type }: Fields): boolean {
  return type === 'agentMessage' || type === 'reasoning' || type === 'contextCompaction';
}

function idOf(item: Fields): string {
  return nameIn(item['id']) ?? '';
}

/** The fields that are kept of the item of an open call. Other fields may have any length. */
function toKept({ type, server, tool, command, changes, ...item }: Fields): Fields {
  const kinds = records(changes).map(({ kind }) => ({ kind: { type: nameIn(record(kind)?.['type']) ?? null } }));
  return { type, server, tool, command, arguments: item['arguments'], changes: kinds };
}
