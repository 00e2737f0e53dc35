import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import { programLimits } from '../../limits.ts';
import type { Decision, ProgramCall } from '../../program.ts';
import type { AskRequest } from '../wire/events.ts';
import { record } from '../../lines/values.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';

/** The answer to a permission request or a question, as opencode's routes take it. */
export type AskReply =
  | { readonly type: 'once' }
  /** Null: the run of the agent ends, too. */
  | { readonly type: 'reject'; readonly message: string | null }
  | { readonly type: 'answers'; readonly answers: readonly (readonly string[])[] }
  | { readonly type: 'reject_question' };

/** Sends the answers of an engine. */
export interface AsksOptions {
  readonly schedule: Schedule;
  readonly reply: (request: AskRequest, reply: AskReply) => void;
  /** The answer that was given for a call was sent. */
  readonly onAnswered: (callId: string) => void;
  /** Several calls of a conversation were denied at once: opencode rejects all of them with the first, and their messages are lost. */
  readonly onDropped: (conversation: string, messages: readonly string[]) => void;
}

/** What opencode wants to know before it runs a call. Answers may come first, and in any order. */
export class Asks {
  readonly #options: AsksOptions;
  readonly #pending = new Map<string, AskRequest>();
  readonly #answers = new Map<string, Decision | ClientResult>();
  readonly #denials = new Map<string, string>();
  /** Calls that opencode has not asked for yet. */
  readonly #expected = new Map<string, { readonly conversation: string; readonly cancel: Cancel }>();
  /** Decisions that were not sent yet: opencode rejects every other request of a conversation together with a denied one. */
  readonly #held = new Map<string, { readonly request: AskRequest; readonly reply: AskReply }>();

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  /** A call needs an approval, and opencode will ask soon. */
  expect(callId: string, conversation: string): void {
    const giveUp = () => {
      this.#expected.delete(callId);
      this.#send(conversation);
    };
    this.#expected.set(callId, { conversation, cancel: this.#options.schedule(giveUp, programLimits.opencodeAskMs) });
  }

  /** Answers at once where the definition decides, or where the decision came first. Whether it waits for a decision. */
  take(request: AskRequest, callId: string, tool: ProgramCall['tool']): boolean {
    this.#arrive(callId);
    const permission = 'permission' in tool ? tool.permission : 'allow';
    if (request.kind === 'permission' && permission !== 'ask') {
      if (permission === 'allow') this.#options.reply(request, { type: 'once' });
      else this.#hold(callId, request, { type: 'reject', message: NOT_AVAILABLE });
      return false;
    }
    const given = this.#answers.get(callId);
    this.#answers.delete(callId);
    if (given === undefined) this.#pending.set(callId, request);
    else this.#hold(callId, request, toReply(request, given));
    return given === undefined;
  }

  /** A decision, or the answer of a person to a question. */
  give(callId: string, answer: Decision | ClientResult): void {
    const request = this.#pending.get(callId);
    if (request === undefined) return void this.#answers.set(callId, answer);
    this.#pending.delete(callId);
    this.#hold(callId, request, toReply(request, answer));
  }

  /** A request was answered. If it was not decided here, opencode has rejected it together with another one. */
  takeReplied(requestId: string): void {
    const fallen = [...this.#pending.values()].find(({ id }) => id === requestId);
    if (fallen?.kind === 'permission') this.#options.onDropped(fallen.sessionId, []);
  }

  /** The message of the denial of a call, until the call has ended. */
  denialOf(callId: string): string | undefined {
    return this.#denials.get(callId);
  }

  /** The call has ended. Whether a decision was still waited for. */
  end(callId: string): boolean {
    const request = this.#pending.get(callId);
    const conversation = request?.sessionId ?? this.#arrive(callId);
    this.#answers.delete(callId);
    this.#held.delete(callId);
    this.#denials.delete(callId);
    this.#pending.delete(callId);
    if (conversation !== undefined) this.#send(conversation);
    return request !== undefined;
  }

  /** The conversation of a call that was expected to be asked for. */
  #arrive(callId: string): string | undefined {
    const expected = this.#expected.get(callId);
    expected?.cancel();
    this.#expected.delete(callId);
    return expected?.conversation;
  }

  #hold(callId: string, request: AskRequest, reply: AskReply): void {
    if (reply.type === 'reject' && reply.message !== null) this.#denials.set(callId, reply.message);
    this.#held.set(callId, { request, reply });
    this.#send(request.sessionId);
  }

  /** Denials are sent last, and only when no other request of the conversation waits for a decision. */
  #send(conversation: string): void {
    const decided = [...this.#held].filter(([, { request }]) => request.sessionId === conversation);
    for (const [callId, { request, reply }] of decided)
      if (reply.type !== 'reject') this.#reply(callId, request, reply);
    const denied = decided.flatMap(([callId, { request, reply }]) =>
      reply.type === 'reject' ? [{ callId, request, reply }] : [],
    );
    const [first] = denied;
    // One without a message ends the run, whatever the others say.
    const ending = denied.find(({ reply }) => reply.message === null);
    const isOpen = this.#isOpen(conversation);
    if (first === undefined || (isOpen && ending === undefined)) return;
    if (ending === undefined && denied.length > 1)
      this.#options.onDropped(
        conversation,
        denied.map(({ reply }) => reply.message ?? ''),
      );
    this.#reply(first.callId, first.request, ending?.reply ?? first.reply);
    for (const { callId } of denied.slice(1)) {
      this.#held.delete(callId);
      this.#options.onAnswered(callId);
    }
  }

  /** Whether opencode waits for another decision about this conversation, or will. */
  #isOpen(conversation: string): boolean {
    const isPending = [...this.#pending.values()].some(
      ({ kind, sessionId }) => kind === 'permission' && sessionId === conversation,
    );
    return isPending || [...this.#expected.values()].some((expected) => expected.conversation === conversation);
  }

  #reply(callId: string, request: AskRequest, reply: AskReply): void {
    this.#held.delete(callId);
    this.#options.reply(request, reply);
    this.#options.onAnswered(callId);
  }
}

const NOT_AVAILABLE = 'This tool is not available to this agent.';

function toReply(request: AskRequest, answer: Decision | ClientResult): AskReply {
  if ('content' in answer) return toAnswers(request, answer);
  if (answer.type === 'deny')
    return { type: 'reject', message: answer.isInterrupting === true ? null : answer.message };
  if (answer.updatedInput === undefined) return { type: 'once' };
  // A denial that says so is safer than the call that was not allowed.
  return { type: 'reject', message: `${CHANGED} ${JSON.stringify(answer.updatedInput)}` };
}

const CHANGED = 'This call was not run. It is allowed with another input, so make it again with this one:';

/**
 * A text answers all questions. A JSON object whose keys are questions and whose values are texts answers each by its own text; any
 * other JSON is a text like others.
 */
function toAnswers({ questions }: AskRequest, { content, isError }: ClientResult): AskReply {
  if (isError) return { type: 'reject_question' };
  const said = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const given = parseAnswers(said, questions);
  return { type: 'answers', answers: questions.map((question) => [given?.[question] ?? said]) };
}

function parseAnswers(said: string, questions: readonly string[]): Record<string, string> | undefined {
  const parsed = parseObject(said);
  const answers = record(parsed?.['answers']) ?? parsed;
  if (answers === undefined) return undefined;
  const entries = Object.entries(answers);
  const isRight = ([question, answer]: [string, unknown]) => questions.includes(question) && typeof answer === 'string';
  // The cast is what the check says.
  return entries.length > 0 && entries.every(isRight) ? (answers as Record<string, string>) : undefined;
}

function parseObject(said: string): Record<string, unknown> | undefined {
  try {
    return record(JSON.parse(said));
  } catch {
    return undefined;
  }
}
