import { isDeepStrictEqual } from 'node:util';
import { createMessage, type PermissionRequest } from '@fleetloom/protocol/stream-json';
import type { Decision } from '../../program.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';
import { toPlainText } from '../lines/to-content.ts';
import { type CallTool, QUESTION_TOOL } from './tool-policy.ts';
import { record } from '../../lines/values.ts';

/** The permission requests and questions of the program. Decisions and answers may arrive before their request, in any order. */
export class Asks {
  readonly #write: (line: string) => void;
  readonly #onAnswered: (callId: string) => void;
  readonly #pending = new Map<string, PermissionRequest>();
  readonly #answers = new Map<string, Decision | ClientResult>();
  /** Calls without a result whose request was answered. */
  readonly #answered = new Map<string, Answered>();

  /** `onAnswered` is called after the decision or answer for a call was written to the program. */
  constructor(write: (line: string) => void, onAnswered: (callId: string) => void = () => {}) {
    this.#write = write;
    this.#onAnswered = onAnswered;
  }

  /**
   * Answers the request at once if the definition decides it, or if the decision came first. Returns whether the request waits
   * for a decision. A decision applies to one input: a second request for the same call with another input is denied.
   */
  take(request: PermissionRequest, callId: string, tool: CallTool, { isPlanning = false } = {}): boolean {
    const line = this.#toImmediateLine(request, callId, tool, isPlanning);
    if (line === undefined) this.#pending.set(callId, request);
    else this.#write(line);
    return line === undefined;
  }

  #toImmediateLine(
    request: PermissionRequest,
    callId: string,
    tool: CallTool,
    isPlanning: boolean,
  ): string | undefined {
    if (tool.kind === 'denied') return createMessage.deny(request, { message: tool.message });
    const isAsked = 'permission' in tool ? tool.permission === 'ask' : request.toolName === QUESTION_TOOL;
    // In plan mode the program requests permission for calls that the mode forbids: a definition that allows the tool does not allow them.
    if (!isAsked && !isPlanning) return createMessage.approve(request);
    const earlier = this.#pending.get(callId) ?? this.#answered.get(callId)?.request;
    if (earlier !== undefined && !isSame(earlier, request))
      return createMessage.deny(request, { message: OTHER_INPUT });
    const repeated = this.#answered.get(callId);
    if (repeated !== undefined) return toLine(request, repeated.answer);
    const answer = this.#answers.get(callId);
    if (answer === undefined) return undefined;
    this.#settle(callId, request, answer);
    this.#onAnswered(callId);
    return toLine(request, answer);
  }

  /** Takes a decision, or the answer of a person to a question. */
  give(callId: string, answer: Decision | ClientResult): void {
    const request = this.#pending.get(callId);
    if (request === undefined) return void this.#answers.set(callId, answer);
    this.#settle(callId, request, answer);
    this.#write(toLine(request, answer));
    this.#onAnswered(callId);
  }

  #settle(callId: string, request: PermissionRequest, answer: Decision | ClientResult): void {
    this.forget(callId);
    this.#answered.set(callId, { request, answer });
  }

  /** Removes a request that the program has withdrawn. Returns the id of its call. */
  withdraw(requestId: string): string | undefined {
    const found = [...this.#pending].find(([, request]) => request.requestId === requestId);
    if (found !== undefined) this.forget(found[0]);
    return found?.[0];
  }

  /** Removes the request and the decision of a call that has a result. */
  forget(callId: string): void {
    this.#pending.delete(callId);
    this.#answers.delete(callId);
    this.#answered.delete(callId);
  }
}

interface Answered {
  readonly request: PermissionRequest;
  readonly answer: Decision | ClientResult;
}

function isSame(one: PermissionRequest, other: PermissionRequest): boolean {
  return one.toolName === other.toolName && isDeepStrictEqual(one.input, other.input);
}

const OTHER_INPUT = 'This call was already submitted for approval with another input. Make a new call.';

function toLine(request: PermissionRequest, answer: Decision | ClientResult): string {
  if ('content' in answer) return toAnswerLine(request, answer);
  if (answer.type === 'allow') {
    const { updatedInput } = answer;
    return createMessage.approve(request, updatedInput === undefined ? {} : { updatedInput: { ...updatedInput } });
  }
  const { message, isInterrupting = false } = answer;
  return createMessage.deny(request, { message, ...(isInterrupting ? { interrupt: true } : {}) });
}

/**
 * The line that answers a question: the answers are added to its input. A text answers all questions. A JSON object whose keys are questions and
 * whose values are texts answers each question with its own text; any other JSON counts as a text.
 */
function toAnswerLine(request: PermissionRequest, { content, isError }: ClientResult): string {
  const said = toPlainText(content);
  if (isError) return createMessage.deny(request, { message: said });
  const input = record(request.input) ?? {};
  const asked = Array.isArray(input['questions']) ? input['questions'] : [];
  const questions = asked.map((question) => String(record(question)?.['question']));
  const every = Object.fromEntries(questions.map((question) => [question, said]));
  return createMessage.approve(request, {
    updatedInput: { ...input, answers: parseAnswers(said, questions) ?? every },
  });
}

function parseAnswers(said: string, questions: readonly string[]): Record<string, unknown> | undefined {
  const given = parseObject(said);
  const answers = record(given?.['answers']) ?? given;
  if (answers === undefined) return undefined;
  const entries = Object.entries(answers);
  const isRight = ([question, answer]: [string, unknown]) => questions.includes(question) && typeof answer === 'string';
  return entries.length > 0 && entries.every(isRight) ? answers : undefined;
}

function parseObject(said: string): Record<string, unknown> | undefined {
  try {
    return record(JSON.parse(said));
  } catch {
    return undefined;
  }
}
