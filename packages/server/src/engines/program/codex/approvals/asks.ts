import type { ResultBlock } from '../../../../base/content.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';
import { records, text } from '../../lines/values.ts';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import type { Decision } from '../../program.ts';
import type { Fields, RequestId } from '../../lines/json-rpc-line.ts';

/** What the program asks for, which decides the form of the answer. */
export type AskKind = 'call' | 'mcp' | 'permissions' | 'question' | 'tool';

/** A request of the program that waits for an answer. */
export interface Ask {
  readonly id: RequestId;
  readonly kind: AskKind;
  readonly threadId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly params: Fields;
  /** No item reports what became of the call: its result is made up when the ask is over. */
  readonly isMadeUp: boolean;
}

/** How answers reach the program. */
export interface AsksOptions {
  readonly write: (id: RequestId, result: object) => void;
  /** The answer that was given for the call was written. */
  readonly onAnswered: (callId: string) => void;
  /** A refusal has no room for its reason: the model has to read it as a message. */
  readonly onDenied: (ask: Ask, reason: string) => void;
}

/** What the program wants to know before it runs a call. Answers may come first, and in any order. */
export class Asks {
  readonly #options: AsksOptions;
  readonly #pending = new Map<string, Ask>();
  /** Answered, and not yet reported as over by the program. */
  readonly #answered = new RecentMap<Ask>({ entriesMax: programLimits.programKeptNamesMax });
  readonly #early = new Map<string, Decision | ClientResult>();
  /** Why calls were denied. */
  readonly #denials = new Map<string, string>();

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  /** True: nothing is known yet, and the answer has to come from outside. */
  take(ask: Ask): boolean {
    const early = this.#early.get(ask.callId);
    this.#early.delete(ask.callId);
    this.#pending.set(ask.callId, ask);
    if (early !== undefined) this.give(ask.callId, early);
    return early === undefined;
  }

  /** Answers a request by the definition of its agent; no person is asked. */
  settle(ask: Ask, decision: Decision): void {
    this.#answer(ask, decision);
  }

  /** A decision, or a result, for a call. */
  give(callId: string, answer: Decision | ClientResult): void {
    const ask = this.#pending.get(callId);
    if (ask === undefined) return void this.#early.set(callId, answer);
    this.#pending.delete(callId);
    this.#options.onAnswered(callId);
    this.#answer(ask, answer);
  }

  /** Whether an answer was given for a call that was not asked for yet. */
  hasEarly(callId: string): boolean {
    return this.#early.has(callId);
  }

  /** The program no longer waits for the request. `isWithdrawn`: it was not answered. */
  resolve(id: RequestId): { readonly ask: Ask; readonly isWithdrawn: boolean } | undefined {
    const answered = this.#answered.get(toName(id));
    this.#answered.delete(toName(id));
    if (answered !== undefined) return { ask: answered, isWithdrawn: false };
    const pending = [...this.#pending.values()].find((ask) => ask.id === id);
    if (pending === undefined) return undefined;
    this.#pending.delete(pending.callId);
    return { ask: pending, isWithdrawn: true };
  }

  /** Removes and returns what a thread still asks for: its turn is over. */
  withdraw(threadId: string): readonly Ask[] {
    const own = [...this.#pending.values()].filter((ask) => ask.threadId === threadId);
    for (const { callId } of own) this.#pending.delete(callId);
    return own;
  }

  /** Why the call was denied; undefined if it was not. */
  denialOf(callId: string): string | undefined {
    return this.#denials.get(callId);
  }

  /** The call has a result. */
  forget(callId: string): void {
    this.#early.delete(callId);
    this.#denials.delete(callId);
  }

  #answer(ask: Ask, answer: Decision | ClientResult): void {
    this.#answered.set(toName(ask.id), ask);
    const refusal = toRefusal(answer);
    if (refusal !== undefined) this.#denials.set(ask.callId, refusal.reason);
    // The reason first: the model then reads it in the request that follows the refusal.
    if (refusal !== undefined && !refusal.isInterrupting) this.#options.onDenied(ask, refusal.reason);
    this.#options.write(ask.id, toAnswer(ask, answer));
  }
}

/** A number and its text are different requests. */
function toName(id: RequestId): string {
  return `${typeof id} ${id}`;
}

interface Refusal {
  readonly reason: string;
  readonly isInterrupting: boolean;
}

/** A changed input cannot be run by Codex: the call is refused, and the model reads what it may run instead. */
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

/** One text answers all questions; a JSON object with ids or questions as its keys answers each. */
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
    // The cast is what the check says.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
