import { sessionLimits } from '../limits.ts';
import { agentOf } from '../state/agent-of.ts';
import { isCompactable, isNearlyFull } from '../../../engines/model/compaction.ts';
import { isOverBudget } from '../state/budget.ts';
import { joinResults, performDelegation } from '../delegation/delegation.ts';
import type { Draft } from '../draft.ts';
import { cancelTurn, closeTurn, failTurn } from '../turn/end-turn.ts';
import { resultsOf } from '../state/fold-thread.ts';
import { addInterruptedResult, addToolResult } from '../turn/add-tool-result.ts';
import type { RequestPurpose } from '../../../frames/payload-parts.ts';
import { advanceProgram } from '../program/advance-program.ts';
import { steeringOf } from '../turn/next-inbox-messages.ts';
import { toDeniedResult } from '../turn/denied-result.ts';
import { announceRunning } from '../turn/start-turn.ts';
import { type Call, endTurn, type OpenTurn, openCallsOf, type ThreadState } from '../state/state.ts';
import { toUsage } from '../state/usage.ts';

/** Advances the open turn of a thread as far as possible without anything from outside. */
export function advance(draft: Draft, thread: ThreadState): void {
  const { turn } = thread;
  if (turn === null) return;
  if (turn.phase.type === 'due') return request(draft, thread, turn, turn.phase.purpose);
  if (turn.phase.type === 'program') return advanceProgram(draft, thread);
  if (turn.phase.type !== 'calling') return;
  if (canAllProceed(openCallsOf(thread))) announceRunning(draft, thread);
  for (const call of openCallsOf(thread)) advanceCall(draft, thread, turn, call);
  if (openCallsOf(thread).length > 0) return;
  if (turn.stopping !== null) return cancelTurn(draft, thread, turn.stopping);
  if (thread.calls.size > 0 || isSteered(thread, turn)) return request(draft, thread, turn, 'turn');
  finish(draft, thread, turn);
}

/** Whether no open call waits for anything outside: the thread is running again before its results are logged. */
function canAllProceed(open: readonly Call[]): boolean {
  return open.length > 0 && open.every(canProceed);
}

function canProceed(call: Call): boolean {
  const { type } = call.progress;
  return type === 'refused' || type === 'due' || (type === 'joining' && joinResults(call) !== undefined);
}

/** Starts a model request, unless a limit prevents it. */
function request(draft: Draft, thread: ThreadState, turn: OpenTurn, purpose: RequestPurpose): void {
  if (isOverBudget(draft.state, draft.now)) return endAtBudget(draft, thread);
  if (turn.iteration >= sessionLimits.turnRequestsMax) {
    const message = `the turn had ${turn.iteration} model requests, and ${sessionLimits.turnRequestsMax} are allowed: send a message to go on`;
    return failTurn(draft, thread, { type: 'tool_use_limit_reached_error', message });
  }
  announceRunning(draft, thread);
  const actual = purpose === 'turn' && isFull(draft, thread, turn) ? 'compaction' : purpose;
  draft.event(thread, 'span.model_request_start', {
    model: agentOf(draft.state, thread).model.id,
    iteration: turn.iteration + 1,
    purpose: actual,
  });
  // After the start of the request, which adds tool results to the history: they come before messages.
  if (actual === 'turn') for (const said of steeringOf(thread)) draft.add(thread, 'user.message', said);
}

/** The agent was done, and a message has arrived since. */
function isSteered(thread: ThreadState, { answer }: OpenTurn): boolean {
  return answer?.reason !== 'refusal' && steeringOf(thread).length > 0;
}

/** The turn waits for a larger budget, except where a run ends at its budget. */
function endAtBudget(draft: Draft, thread: ThreadState): void {
  if (draft.state.created.ends_at_budget !== true) return;
  closeTurn(draft, thread, { end: 'limit', error: 'the budget is used up', stop: endTurn, isReported: true });
}

/**
 * Whether the history has to be compacted first, and can be. Once is enough: if that did not help, the request is sent
 * anyway.
 */
function isFull(draft: Draft, thread: ThreadState, { compactions }: OpenTurn): boolean {
  const messages = [...thread.history, ...resultsOf(thread)];
  const window = draft.windowTokens(agentOf(draft.state, thread).model.id);
  if (compactions > 0 || !isCompactable(messages)) return false;
  return isNearlyFull({ messages, window, usage: toUsage(thread.answerUsage) });
}

function advanceCall(draft: Draft, thread: ThreadState, turn: OpenTurn, call: Call): void {
  const { progress } = call;
  if (progress.type === 'running') return;
  if (turn.stopping !== null) return addInterruptedResult(draft, thread, call);
  if (progress.type === 'refused') return addToolResult(draft, thread, call, toDeniedResult(call, progress.message));
  if (progress.type === 'due') {
    announceRunning(draft, thread);
    if (call.kind === 'session') performDelegation(draft, thread, call);
    else draft.add(thread, 'tool.started', { tool_use_id: call.id });
  }
  if (call.progress.type !== 'joining') return;
  const answer = joinResults(call);
  if (answer !== undefined) addToolResult(draft, thread, call, answer);
}

/** Ends the turn after the last model response. */
function finish(draft: Draft, thread: ThreadState, { answer }: OpenTurn): void {
  if (answer?.reason === 'refusal') {
    const stop = { reason: { type: 'refusal' as const }, details: answer.details };
    return closeTurn(draft, thread, { end: 'refusal', error: 'the model refused', stop, isReported: true });
  }
  const isCut = answer?.reason === 'max_tokens' || answer?.reason === 'context_window_exceeded';
  const error = isCut ? 'the answer was cut at its longest length' : null;
  closeTurn(draft, thread, { end: isCut ? 'limit' : 'end_turn', error, stop: endTurn, isReported: true });
}
