import type { ResultBlock } from '../../../../base/content.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';
import { records, text } from '../../lines/values.ts';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import type { Decision } from '../../program.ts';
import type { Fields, RequestId } from '../../lines/json-rpc-line.ts';

/** The kind of a request of the program, which decides the form of the response. */
export type AskKind = 'call' | 'mcp' | 'permissions' | 'question' | 'tool';

/** A request of the program that waits for an answer. */
export interface Ask {
  readonly id: RequestId;
  readonly kind: AskKind;
  readonly threadId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly params: Fields;
  /** No item reports the result of the call: this server makes up a result when the ask ends. */
  readonly isMadeUp: boolean;
}

/** Callbacks of the asks of one program. */
export interface AsksOptions {
  readonly write: (id: RequestId, result: object) => void;
  /** Called when the decision or result for a call is sent to the program. */
  readonly onAnswered: (callId: string) => void;
  /** Called with the reason of a denial. The response to the program has no field for it, so the model reads it as a message. */
  readonly onDenied: (ask: Ask, reason: string) => void;
}

/** The permission requests and questions of the program. Decisions and answers may arrive before their request, in any order. */
export class Asks {
  readonly #options: AsksOptions;
  readonly #pending = new Map<string, Ask>();
  /** Asks that were answered and that the program has not resolved yet. */
  readonly #answered = new RecentMap<Ask>({ entriesMax: programLimits.programKeptNamesMax });
  readonly #early = new Map<string, Decision | ClientResult>();
  /** The reasons of denied calls, by call id. */
  readonly #denials = new Map<string, string>();

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  /** Adds an ask. True if it has to wait for a decision or answer from a client. */
  take(ask: Ask): boolean {
    const early = this.#early.get(ask.callId);
    this.#early.delete(ask.callId);
    this.#pending.set(ask.callId, ask);
    if (early !== undefined) this.give(ask.callId, early);
    return early === undefined;
  }

  /** Answers an ask with the decision of the agent's definition, without a person. */
  settle(ask: Ask, decision: Decision): void {
    this.#answer(ask, decision);
  }

  /** Takes a decision or a result for a call. */
  give(callId: string, answer: Decision | ClientResult): void {
    const ask = this.#pending.get(callId);
    if (ask === undefined) return void this.#early.set(callId, answer);
    this.#pending.delete(callId);
    this.#options.onAnswered(callId);
    this.#answer(ask, answer);
  }

  /** Whether a decision or result arrived before the ask of its call. */
  hasEarly(callId: string): boolean {
    return this.#early.has(callId);
  }

  /** Removes a request that the program no longer waits for. `isWithdrawn`: it was not answered. */
  resolve(id: RequestId): { readonly ask: Ask; readonly isWithdrawn: boolean } | undefined {
    const answered = this.#answered.get(toName(id));
    this.#answered.delete(toName(id));
    if (answered !== undefined) return { ask: answered, isWithdrawn: false };
    const pending = [...this.#pending.values()].find((ask) => ask.id === id);
    if (pending === undefined) return undefined;
    this.#pending.delete(pending.callId);
    return { ask: pending, isWithdrawn: true };
  }

  /** Removes and returns the open asks of a thread whose turn has ended. */
  withdraw(threadId: string): readonly Ask[] {
    const own = [...this.#pending.values()].filter((ask) => ask.threadId === threadId);
    for (const { callId } of own) this.#pending.delete(callId);
    return own;
  }

  /** Why the call was denied; undefined if it was not. */
  denialOf(callId: string): string | undefined {
    return this.#denials.get(callId);
  }

  /** Forgets a call that has a result. */
  forget(callId: string): void {
    this.#early.delete(callId);
    this.#denials.delete(callId);
  }

  #answer(ask: Ask, answer: Decision | ClientResult): void {
    this.#answered.set(toName(ask.id), ask);
    const refusal = toRefusal(answer);
    if (refusal !== undefined) this.#denials.set(ask.callId, refusal.reason);
    // The reason is sent first, so that the model reads it in the request after the denial.
    if (refusal !== undefined && !refusal.isInterrupting) this.#options.onDenied(ask, refusal.reason);
    this.#options.write(ask.id, toAnswer(ask, answer));
  }
}

/** The map key of a request id: a number and the same number as a text are different ids. */
function toName(id: RequestId): string {
  return `${typeof id} ${id}`;
}

interface Refusal {
  readonly reason: string;
  readonly isInterrupting: boolean;
}

/** The denial in an answer, if it is one. Codex cannot run a changed input: the call is denied, and the model reads the allowed input. */
function toRefusal(answer: Decision | ClientResult): Refusal | undefined {
  if ('content' in answer) return undefined;
  if (answer.type === 'deny') return { reason: answer.message, isInterrupting: answer.isInterrupting === true };
  if (answer.updatedInput === undefined) return undefined;
  const input = JSON.stringify(answer.updatedInput);
  return { reason: `Do not run this call. Make it again with this input instead: ${input}`, isInterrupting: false };
}

function toAnswer(ask: Ask, answer: Decision | ClientResult): object {
  if ('content' in answer) return ask.kind === 'question' ? toAnswers(ask, answer) : toToolResult(answer);
  const refusal = toRefusal(answer);
  const word = refusal === undefined ? 'accept' : refusal.isInterrupting ? 'cancel' : 'decline';
  switch (ask.kind) {
    case 'mcp':
      return { action: word, content: word === 'accept' ? {} : null, _meta: null };
    case 'permissions':
      return { permissions: refusal === undefined ? ask.params['permissions'] : {}, scope: 'turn' };
    case 'question':
      return { answers: {} };
    case 'tool':
      return toToolResult({ content: [{ type: 'text', text: refusal?.reason ?? '' }], isError: true });
    case 'call':
      return { decision: word };
  }
}

function toToolResult({ content, isError }: ClientResult): object {
  return { contentItems: content.map(toContentItem), success: !isError };
}

function toContentItem(block: ResultBlock): object {
  if (block.type === 'text') return { type: 'inputText', text: block.text };
  const { data, media_type: mediaType, url } = block.type === 'image' ? block.source : {};
  if (typeof data === 'string' && typeof mediaType === 'string') {
    return { type: 'inputImage', imageUrl: `data:${mediaType};base64,${data}` };
  }
  if (typeof url === 'string') return { type: 'inputImage', imageUrl: url };
  return { type: 'inputText', text: JSON.stringify(block) };
}

/** The answers to questions. One text answers all questions; a JSON object with ids or questions as its keys answers each question. */
function toAnswers({ params }: Ask, { content }: ClientResult): object {
  const said = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const given = parseObject(said);
  const answers = records(params['questions']).map((question) => {
    const [id, words] = [text(question['id']) ?? '', text(question['question']) ?? ''];
    const own = given?.[id] ?? given?.[words];
    return [id, { answers: [typeof own === 'string' ? own : said] }] as const;
  });
  return { answers: Object.fromEntries(answers) };
}

function parseObject(said: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(said);
    // The cast: the check ensures an object.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
