import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import { programLimits } from '../../limits.ts';
import type { Decision, ProgramCall } from '../../program.ts';
import type { AskRequest } from '../wire/events.ts';
import { record } from '../../lines/values.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';

/** The answer to a permission request or a question, in the form of opencode's routes. */
export type AskReply =
  | { readonly type: 'once' }
  /** `message` is null if the run of the agent is to end too. */
  | { readonly type: 'reject'; readonly message: string | null }
  | { readonly type: 'answers'; readonly answers: readonly (readonly string[])[] }
  | { readonly type: 'reject_question' };

/** Callbacks of the asks of one program. */
export interface AsksOptions {
  readonly schedule: Schedule;
  readonly reply: (request: AskRequest, reply: AskReply) => void;
  /** Called when the decision or answer for a call was sent. */
  readonly onAnswered: (callId: string) => void;
  /** Called when several calls of a conversation are denied at once: opencode rejects all of them with the first, and their messages are lost. */
  readonly onDropped: (conversation: string, messages: readonly string[]) => void;
}

/** The permission requests and questions of opencode. Decisions and answers may arrive before their request, in any order. */
export class Asks {
  readonly #options: AsksOptions;
  readonly #pending = new Map<string, AskRequest>();
  readonly #answers = new Map<string, Decision | ClientResult>();
  readonly #denials = new Map<string, string>();
  /** Calls that need an approval and that opencode has not requested permission for yet. */
  readonly #expected = new Map<string, { readonly conversation: string; readonly cancel: Cancel }>();
  /** Decisions that were not sent yet: with a denial, opencode rejects every other request of the conversation. */
  readonly #held = new Map<string, { readonly request: AskRequest; readonly reply: AskReply }>();

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  /** Records a call that needs an approval, for which opencode will soon request permission. */
  expect(callId: string, conversation: string): void {
    const giveUp = () => {
      this.#expected.delete(callId);
      this.#send(conversation);
    };
    this.#expected.set(callId, { conversation, cancel: this.#options.schedule(giveUp, programLimits.opencodeAskMs) });
  }

  /** Answers at once if the definition decides, or if the decision came first. Returns whether the request waits for a decision. */
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

  /** Takes a decision, or the answer of a person to a question. */
  give(callId: string, answer: Decision | ClientResult): void {
    const request = this.#pending.get(callId);
    if (request === undefined) return void this.#answers.set(callId, answer);
    this.#pending.delete(callId);
    this.#hold(callId, request, toReply(request, answer));
  }

  /** Takes opencode's report that a request was answered. If it is still pending here, opencode has rejected it with another request. */
  takeReplied(requestId: string): void {
    const fallen = [...this.#pending.values()].find(({ id }) => id === requestId);
    if (fallen?.kind === 'permission') this.#options.onDropped(fallen.sessionId, []);
  }

  /** The message of the denial of a call, until the call has ended. */
  denialOf(callId: string): string | undefined {
    return this.#denials.get(callId);
  }

  /** Forgets a call that has ended. Returns whether it still waited for a decision. */
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

  /** Stops expecting the permission request of a call. Returns the conversation of the call. */
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

  /** Sends decisions. Denials are sent last, and only when no other request of the conversation waits for a decision. */
  #send(conversation: string): void {
    const decided = [...this.#held].filter(([, { request }]) => request.sessionId === conversation);
    for (const [callId, { request, reply }] of decided)
      if (reply.type !== 'reject') this.#reply(callId, request, reply);
    const denied = decided.flatMap(([callId, { request, reply }]) =>
      reply.type === 'reject' ? [{ callId, request, reply }] : [],
    );
    const [first] = denied;
    // A denial without a message ends the run, whatever the other denials are.
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

  /** Whether opencode waits for another decision about this conversation, or will soon. */
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
  // opencode cannot change an input: a denial with the allowed input is safer than running the original call.
  return { type: 'reject', message: `${CHANGED} ${JSON.stringify(answer.updatedInput)}` };
}

const CHANGED = 'This call was not run. It is allowed with another input, so make it again with this one:';

/**
 * The reply to questions. A text answers all of them. A JSON object whose keys are questions and whose values are texts answers each one;
 * any other JSON counts as a text.
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
  // The cast: the check ensures texts.
  return entries.length > 0 && entries.every(isRight) ? (answers as Record<string, string>) : undefined;
}

function parseObject(said: string): Record<string, unknown> | undefined {
  try {
    return record(JSON.parse(said));
  } catch {
    return undefined;
  }
}
