import { limits } from '../base/limits.ts';
import { agentOf } from './agent-of.ts';
import { isCompactable, isNearlyFull } from '../engines/compaction.ts';
import { isOverBudget } from './budget.ts';
import { joinAnswers, performDelegation } from './delegation.ts';
import type { Draft } from './draft.ts';
import { cancelTurn, closeTurn, failTurn } from './end-turn.ts';
import { resultsOf } from './fold-thread.ts';
import { giveInterruption, giveResult } from './give-result.ts';
import type { RequestPurpose } from '../frames/frames.ts';
import { advanceProgram } from './program/advance-program.ts';
import { announceRunning } from './start-turn.ts';
import { type Answer, type Call, endTurn, type OpenTurn, openCallsOf, type ThreadState, textAnswer } from './state.ts';
import { toUsage } from './usage.ts';

/** Takes the open turn of a thread as far as it goes without anything from outside. */
export function advance(draft: Draft, thread: ThreadState): void {
  const { turn } = thread;
  if (turn === null) return;
  if (turn.phase.type === 'due') return request(draft, thread, turn, turn.phase.purpose);
  if (turn.phase.type === 'program') return advanceProgram(draft, thread);
  if (turn.phase.type !== 'calling') return;
  if (isAtWork(openCallsOf(thread))) announceRunning(draft, thread);
  for (const call of openCallsOf(thread)) takeFurther(draft, thread, turn, call);
  if (openCallsOf(thread).length > 0) return;
  if (turn.stopping !== null) return cancelTurn(draft, thread, turn.stopping);
  if (thread.calls.size > 0 || isSteered(thread, turn)) return request(draft, thread, turn, 'turn');
  finish(draft, thread, turn);
}

/** Nobody else is waited for, so that the thread is at work again before it says what became of its calls. */
function isAtWork(open: readonly Call[]): boolean {
  return open.length > 0 && open.every(isUpToUs);
}

function isUpToUs(call: Call): boolean {
  const { type } = call.progress;
  return type === 'refused' || type === 'due' || (type === 'joining' && joinAnswers(call) !== undefined);
}

/** Asks the model, unless something stands against it. */
function request(draft: Draft, thread: ThreadState, turn: OpenTurn, purpose: RequestPurpose): void {
  if (isOverBudget(draft.state, draft.now)) return endAtBudget(draft, thread);
  if (turn.iteration >= limits.turnRequestsMax) {
    const message = `the turn had ${turn.iteration} model requests, and ${limits.turnRequestsMax} are allowed: send a message to go on`;
    return failTurn(draft, thread, { type: 'tool_use_limit_reached_error', message });
  }
  announceRunning(draft, thread);
  const actual = purpose === 'turn' && isFull(draft, thread, turn) ? 'compaction' : purpose;
  draft.event(thread, 'span.model_request_start', {
    model: agentOf(draft.state, thread).model.id,
    iteration: turn.iteration + 1,
    purpose: actual,
  });
  // Behind the request's start, which puts the results of calls into the history: they come before what somebody says.
  if (actual === 'turn') for (const said of steeringOf(thread)) draft.add(thread, 'user.message', said);
}

/** What people said to a child while it worked. Who delegated to it waits for one answer, so it is told within the turn. */
function steeringOf({ parentId, inbox }: ThreadState) {
  if (parentId === null) return [];
  return inbox.flatMap((waiting) =>
    waiting.type === 'user.message' ? [{ id: waiting.id, content: waiting.content, is_processed: true }] : [],
  );
}

/** It was done, and somebody has said something since. */
function isSteered(thread: ThreadState, { answer }: OpenTurn): boolean {
  return answer?.reason !== 'refusal' && steeringOf(thread).length > 0;
}

/** It waits for a larger budget, unless nobody is there to raise it. */
function endAtBudget(draft: Draft, thread: ThreadState): void {
  if (draft.state.created.ends_at_budget !== true) return;
  closeTurn(draft, thread, { end: 'limit', error: 'the budget is used up', stop: endTurn, isReported: true });
}

/**
 * Whether the history has to be summed up first, and can be. Once is enough: if it did not help, the model has the last
 * word.
 */
function isFull(draft: Draft, thread: ThreadState, { compactions }: OpenTurn): boolean {
  const messages = [...thread.history, ...resultsOf(thread)];
  const window = draft.windowTokens(agentOf(draft.state, thread).model.id);
  if (compactions > 0 || !isCompactable(messages)) return false;
  return isNearlyFull({ messages, window, usage: toUsage(thread.answerUsage) });
}

function takeFurther(draft: Draft, thread: ThreadState, turn: OpenTurn, call: Call): void {
  const { progress } = call;
  if (progress.type === 'running') return;
  if (turn.stopping !== null) return giveInterruption(draft, thread, call);
  if (progress.type === 'refused') return giveResult(draft, thread, call, toRefusal(call, progress.message));
  if (progress.type === 'due') {
    announceRunning(draft, thread);
    if (call.kind === 'session') performDelegation(draft, thread, call);
    else draft.add(thread, 'tool.started', { tool_use_id: call.id });
  }
  if (call.progress.type !== 'joining') return;
  const answer = joinAnswers(call);
  if (answer !== undefined) giveResult(draft, thread, call, answer);
}

/** The model has said what it had to say. */
function finish(draft: Draft, thread: ThreadState, { answer }: OpenTurn): void {
  if (answer?.reason === 'refusal') {
    const stop = { reason: { type: 'refusal' as const }, details: answer.details };
    return closeTurn(draft, thread, { end: 'refusal', error: 'the model refused', stop, isReported: true });
  }
  const isCut = answer?.reason === 'max_tokens' || answer?.reason === 'context_window_exceeded';
  const error = isCut ? 'the answer was cut at its longest length' : null;
  closeTurn(draft, thread, { end: isCut ? 'limit' : 'end_turn', error, stop: endTurn, isReported: true });
}

/** The result of a call that must not run. */
export function toRefusal({ isAsked, name }: Call, message: string | null): Answer {
  if (!isAsked) return textAnswer(`The tool ${name} is not available.`, true);
  return textAnswer(message === null ? 'The user refused this call.' : `The user refused this call: ${message}`, true);
}
