import { cutText } from '@fleetloom/protocol/fleet';
import { isDeeper } from '../../../../base/json/is-deeper.ts';
import { programLimits } from '../../limits.ts';
import type { Fields, RequestId } from '../../lines/json-rpc-line.ts';
import { toPlan } from '../../lines/to-plan.ts';
import { nameIn, record, text, toJson } from '../../lines/values.ts';
import { type Decision, MAIN, type ProgramEvent, type TurnOutcome } from '../../program.ts';
import type { ToolChoice } from '../../tool-choices.ts';
import { type CallPolicy, toToolName } from '../approvals/call-policy.ts';
import { CANCELLED, toDenial, toOutcome } from '../approvals/to-outcome.ts';
import { CallFields, KeptChars, readTerminal } from './call-fields.ts';
import { GrowingText } from './growing-text.ts';
import { toResult } from './to-result.ts';
import { toUsage } from './to-usage.ts';

/** Options of translating one conversation. */
export interface AcpTranslatorOptions {
  readonly policy: CallPolicy;
  /** Whether calls that need a person's approval are denied. */
  readonly isClosed: () => boolean;
  /** The model of the agent; empty if it is not known. */
  readonly model: () => string;
  /** Answers a permission request. */
  readonly answer: (id: RequestId, result: object) => void;
}

/** An open call of the agent. Its fields come in several updates. */
interface OpenCall {
  readonly callId: string;
  readonly fields: CallFields;
  isAnnounced: boolean;
  /** Permission requests that wait for a decision, with the response to each. */
  waiting: { readonly id: RequestId; readonly outcomeOf: (isAllowed: boolean) => object }[];
  /** The decision about the call; null until there is one. */
  decision: Decision | null;
}

/** Translates updates and permission requests of an ACP agent to events. Agents do not report model requests, so these are inferred. */
export class AcpTranslator {
  readonly #options: AcpTranslatorOptions;
  readonly #text = new GrowingText();
  readonly #calls = new Map<string, OpenCall>();
  readonly #kept = new KeptChars();
  readonly #used = new Map<string, number>();
  #isRequesting = false;
  /** A result came during this model request: the next output belongs to another request. */
  #hasResult = false;
  #denials: string[] = [];
  #isAtDenial = false;

  constructor(options: AcpTranslatorOptions) {
    this.#options = options;
  }

  /** Whether the agent has done nothing since a call was denied. */
  get isAtDenial(): boolean {
    return this.#isAtDenial;
  }

  /** Removes and returns the reasons of denials that the model has not read. */
  takeDenials(): readonly string[] {
    return this.#denials.splice(0);
  }

  /** Takes an `update` of the running turn. */
  take(update: Fields): readonly ProgramEvent[] {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#grow('text', update);
      case 'agent_thought_chunk':
        return this.#grow('thinking', update);
      case 'tool_call':
      case 'tool_call_update':
        return this.#update(update);
      case 'plan':
        return [{ key: MAIN, type: 'plan', items: toPlan(update['entries'], 'content') }];
      default:
        return [];
    }
  }

  /** Takes a permission request. */
  ask(id: RequestId, params: Fields): readonly ProgramEvent[] {
    const toolCall = record(params['toolCall']) ?? {};
    const events = this.#update({ ...toolCall, status: undefined });
    const call = this.#calls.get(nameIn(toolCall['toolCallId']) ?? '');
    if (call === undefined || call.waiting.length >= programLimits.acpWaitingMax) {
      this.#options.answer(id, toOutcome(params, false));
      return events;
    }
    const isFirst = call.waiting.length === 0;
    const announced = [...events, ...this.#announce(call)];
    const [allowed, denied] = [toOutcome(params, true), toOutcome(params, false)];
    call.waiting.push({ id, outcomeOf: (isAllowed) => (isAllowed ? allowed : denied) });
    const decision = call.decision ?? this.#decide(this.#permissionOf(call));
    if (decision !== null) return [...announced, ...this.#answer(call, decision, call.decision !== null)];
    if (!isFirst) return announced;
    const reason = text(toolCall['title']) ?? null;
    const { callId } = call;
    // The model request that made the call is ended first, because a session waits for a person only between requests.
    const ended = this.#endRequest(false, null);
    return [...announced, ...ended, { key: MAIN, type: 'ask', callId, kind: 'tool', reason, input: inputOf(call) }];
  }

  /** Takes the decision of a person. It may come before the request. */
  give(callId: string, decision: Decision): readonly ProgramEvent[] {
    const call = [...this.#calls.values()].find((each) => each.callId === callId);
    if (call === undefined || call.decision !== null) return [];
    call.decision = decision;
    return call.waiting.length === 0 ? [] : this.#answer(call, decision, true);
  }

  /** Cancels all asks of a stopped turn, including asks of calls for which the agent had not requested permission yet. */
  withdraw(): readonly ProgramEvent[] {
    return [...this.#calls.values()].flatMap((call): ProgramEvent[] => {
      const isUndecided = call.isAnnounced && call.decision === null && this.#permissionOf(call) === 'ask';
      for (const { id } of call.waiting.splice(0)) this.#options.answer(id, CANCELLED);
      if (!isUndecided) return [];
      call.decision = { type: 'deny', message: STOPPED };
      return [{ key: MAIN, type: 'ask_withdrawn', callId: call.callId }];
    });
  }

  /** Ends the turn after the response to its prompt. Calls without a result get one. */
  end(outcome: TurnOutcome, usage: unknown): readonly ProgramEvent[] {
    const isError = outcome.type !== 'done' && outcome.type !== 'stopped';
    const events = [...this.#text.end(), ...this.withdraw()];
    for (const call of this.#calls.values()) {
      events.push(...this.#announce(call), ...this.#result(call, true, [{ type: 'text', text: STOPPED }]));
    }
    // Usage without any output, or a failure before it, also needs a model request.
    if (!this.#isRequesting && (isError || toUsage(usage).outputTokens > 0)) events.push(...this.#request());
    events.push(...this.#endRequest(isError, usage));
    this.#hasResult = false;
    return events;
  }

  /** Begins a prompt: denials before it no longer count as the last action. */
  begin(): void {
    this.#isAtDenial = false;
  }

  #grow(kind: 'text' | 'thinking', update: Fields): readonly ProgramEvent[] {
    const said = text(record(update['content'])?.['text']);
    if (said === undefined) return [];
    this.#isAtDenial = false;
    const messageId = text(update['messageId']);
    const before = this.#text.isOpen(kind, messageId) ? [] : [...this.#text.end(), ...this.#request()];
    return [...before, ...this.#text.grow(kind, messageId, said)];
  }

  #update(update: Fields): readonly ProgramEvent[] {
    const id = nameIn(update['toolCallId']);
    if (id === undefined) return [];
    const call = this.#calls.get(id) ?? this.#add(id, update);
    if (call === undefined) return [];
    call.fields.take(update);
    const { status } = update;
    const isOver = status === 'completed' || status === 'failed';
    if (!isOver && status !== 'in_progress') return this.#show(call, update);
    const events = this.#announce(call);
    if (!isOver) return [...events, ...this.#show(call, update)];
    return [...events, ...this.#result(call, status === 'failed', toResult(call.fields))];
  }

  /** Emits the terminal output of an announced call. */
  #show({ callId, isAnnounced }: OpenCall, update: Fields): readonly ProgramEvent[] {
    const shown = isAnnounced ? readTerminal(update) : undefined;
    return shown === undefined ? [] : [{ key: MAIN, type: 'output_delta', callId, text: shown }];
  }

  /** Adds a call for a `tool_call` or a permission request. Another update without a call is a late update of an ended call, and is ignored. */
  #add(id: string, update: Fields): OpenCall | undefined {
    const isNew = update['sessionUpdate'] !== 'tool_call_update';
    if (!isNew || this.#calls.size >= programLimits.acpCallsMax) return undefined;
    this.#isAtDenial = false;
    const times = (this.#used.get(id) ?? 0) + 1;
    this.#used.set(id, times);
    const callId = times === 1 ? id : `${id}#${times}`;
    const fields = new CallFields(this.#kept);
    const call = { callId, fields, isAnnounced: false, waiting: [], decision: null };
    this.#calls.set(id, call);
    return call;
  }

  /** Emits the call, once. This waits until the input is known, which may come in an update. */
  #announce(call: OpenCall): readonly ProgramEvent[] {
    if (call.isAnnounced) return [];
    call.isAnnounced = true;
    const kind = text(call.fields.get('kind'));
    const title = cutText(text(call.fields.get('title')) ?? kind ?? 'tool', NAME_CHARS_MAX);
    const name = nameIn(call.fields.get('name')) ?? toToolName(kind) ?? title;
    const tool = { kind: 'builtin', permission: this.#permissionOf(call) } as const;
    const { callId } = call;
    const input = inputOf(call);
    return [...this.#text.end(), ...this.#request(), { key: MAIN, type: 'call', callId, name, input, tool }];
  }

  #result(call: OpenCall, isError: boolean, content: ReturnType<typeof toResult>): readonly ProgramEvent[] {
    const id = [...this.#calls].find(([, each]) => each === call)?.[0] ?? '';
    this.#calls.delete(id);
    call.fields.release();
    this.#hasResult = true;
    const denial = call.decision === null ? undefined : toDenial(call.decision);
    const isDenied = isError && denial !== undefined;
    const withdrawn: ProgramEvent[] =
      call.waiting.length === 0 ? [] : [{ key: MAIN, type: 'ask_withdrawn', callId: call.callId }];
    return [
      ...withdrawn,
      {
        key: MAIN,
        type: 'result',
        callId: call.callId,
        content: isDenied ? [{ type: 'text', text: denial }] : content,
        isError,
      },
    ];
  }

  #permissionOf({ fields }: OpenCall): ToolChoice {
    return this.#options.policy(text(fields.get('kind')));
  }

  /** The decision by the definition and the mode; null if a person decides. */
  #decide(permission: ToolChoice): Decision | null {
    if (permission === 'deny') return { type: 'deny', message: NOT_GIVEN };
    if (this.#options.isClosed()) return { type: 'deny', message: CLOSED };
    return permission === 'allow' ? { type: 'allow' } : null;
  }

  #answer(call: OpenCall, decision: Decision, isPersons: boolean): readonly ProgramEvent[] {
    call.decision = decision;
    const denial = toDenial(decision);
    for (const { id, outcomeOf } of call.waiting.splice(0)) this.#options.answer(id, outcomeOf(denial === undefined));
    if (denial !== undefined) {
      if (this.#denials.length < programLimits.acpWaitingMax) this.#denials.push(denial);
      this.#isAtDenial = true;
    }
    return isPersons ? [{ key: MAIN, type: 'answered', callId: call.callId }] : [];
  }

  /** Begins a model request with its first output. */
  #request(): readonly ProgramEvent[] {
    if (this.#isRequesting && !this.#hasResult) return [];
    const ended = this.#endRequest(false, null);
    this.#isRequesting = true;
    this.#hasResult = false;
    return [...ended, { key: MAIN, type: 'request_started', model: this.#options.model() }];
  }

  #endRequest(isError: boolean, usage: unknown): readonly ProgramEvent[] {
    if (!this.#isRequesting) return [];
    this.#isRequesting = false;
    const model = this.#options.model();
    return [{ key: MAIN, type: 'request_ended', model, usage: toUsage(usage), stopReason: null, isError }];
  }
}

const NAME_CHARS_MAX = 100;

const STOPPED = 'The call was stopped.';

const NOT_GIVEN = 'The definition of this agent does not give it this tool.';

const CLOSED = 'Calls that need an approval are denied in this session.';

function inputOf({ fields }: OpenCall) {
  const { input } = fields;
  const isUsable = Object.keys(input).length > 0 && !isDeeper(input, programLimits.acpNestingMax);
  return toJson(isUsable ? input : { title: text(fields.get('title')) ?? '' });
}
