import { cutText } from '@fleetloom/protocol/fleet';
import { MERGE_TOOL } from '@fleetloom/protocol/managed-agents';
import type { InputBlock } from '../../../base/content.ts';
import { sessionLimits } from '../limits.ts';
import {
  addCall,
  finishCall,
  forgetDone,
  forgetTurn,
  hush,
  requestApproval,
  see,
  setAnswer,
  takeFromInbox,
  emitResults,
  textOf,
  toOpenTurn,
  toSystemNote,
  withSender,
} from './fold-thread.ts';
import { type FrameHandlers, onThread } from './frame-handler.ts';
import { isProgramThread } from './program-threads.ts';
import { type Progress, textAnswer, threadOf } from './state.ts';
import { addUsage } from './usage.ts';

const firstPhase = { type: 'due', purpose: 'turn' } as const;
const programPhase = { type: 'program', startId: null } as const;

/** Folds the frames of turns: inputs, model responses, tool calls and results. */
export const turnHandlers: FrameHandlers = {
  'turn.started': (state, _, { threadId, turn, time }) => {
    state.run!.nextStreamId = turn!.streamId + 1;
    const thread = threadOf(state, threadId!);
    thread.turn = toOpenTurn(thread, turn!, time, isProgramThread(state, thread) ? programPhase : firstPhase);
    thread.hasFailed = false;
  },
  'turn.retried': onThread((thread) => {
    const { phase } = thread.turn!;
    thread.turn!.phase = { type: 'due', purpose: 'purpose' in phase ? phase.purpose : 'turn' };
  }),
  'turn.overflowed': onThread((thread) => {
    thread.turn!.phase = { type: 'due', purpose: 'compaction' };
  }),
  'turn.stopping': onThread((thread, { is_reported: isReported }) => {
    thread.turn!.stopping = { isReported };
  }),
  'turn.ended': (state, { stop_reason: end, error }, { threadId }) => {
    const thread = threadOf(state, threadId!);
    emitResults(thread);
    if (end === 'refusal') forgetTurn(thread);
    if (thread.parentId === null) state.run!.outcome = { end, error, content: thread.turn!.said };
    // A program keeps the histories of its agents itself.
    if (thread.turn!.phase.type === 'program') thread.history = [];
    thread.turn = null;
    thread.hasFailed = end !== 'end_turn' && end !== 'cancelled';
    thread.joinedBy = null;
    // The turn was interrupted or failed: reports that the agent had not read must not begin another turn.
    if (end === 'cancelled' || end === 'error') thread.inbox = thread.inbox.map(hush);
  },
  'turn.took': onThread((thread, { message_id: id }) => {
    const letter = takeFromInbox(thread, id);
    if (letter !== undefined) thread.history.push({ role: 'user', content: letter.content });
  }),
  'turn.flushed': onThread((thread, { message_ids: ids }) => {
    thread.inbox = thread.inbox.filter(({ id }) => !ids.includes(id));
  }),

  'user.message': (state, { id, content, is_processed }, { threadId, time }) => {
    state.firstMessage ??= firstText(content);
    const thread = threadOf(state, threadId!);
    thread.updatedAt = time;
    // Only attachments are checked for text commands: the text is the user's own.
    if (is_processed)
      see(
        thread,
        content.filter(({ type }) => type !== 'text'),
      );
    if (!is_processed) return void thread.inbox.push({ type: 'user.message', id, content });
    takeFromInbox(thread, id);
    thread.history.push({ role: 'user', content });
  },
  'system.message': onThread((thread, { id, content, is_processed }) => {
    if (!is_processed) return void thread.inbox.push({ type: 'system.message', id, content });
    takeFromInbox(thread, id);
    thread.history.push({ role: 'user', content: toSystemNote(content) });
  }),
  'approval.requested': onThread((thread, requested) => requestApproval(thread, requested)),
  'user.tool_confirmation': onThread((thread, decided) => {
    const { id: answerId, tool_use_id: id, result, deny_message: message, updated_input, not_applied } = decided;
    if (not_applied !== undefined) return;
    const call = thread.calls.get(id)!;
    const progress: Progress =
      result === 'deny' ? { type: 'refused', message } : { type: call.runsAt === 'server' ? 'due' : 'outside' };
    thread.calls.set(id, { ...call, input: updated_input ?? call.input, progress, answerId });
  }),
  'user.custom_tool_result': onThread((thread, { id: answerId, custom_tool_use_id: id, ...given }) => {
    if (given.not_applied !== undefined) return;
    finishCall(thread, id, { content: given.content, isError: given.is_error });
    setAnswer(thread, id, answerId);
  }),
  'answer.delivered': onThread((thread, { tool_use_id: id }) => setAnswer(thread, id, null)),
  'answer.not_applied': onThread((thread, { tool_use_id: id }) => setAnswer(thread, id, null)),
  'user.tool_result': onThread((thread, { tool_use_id: id, content, is_error: isError, not_applied }) => {
    if (not_applied === undefined) finishCall(thread, id, { content, isError });
  }),

  'agent.message': onThread((thread, { content }) => {
    for (const block of content) thread.blocks.push(block);
  }),
  'agent.thinking': onThread((thread, { block }) => void thread.blocks.push(block)),
  'agent.block': onThread((thread, { block }) => {
    thread.blocks.push(block);
    // The endpoint may have returned web search results.
    see(thread, [block]);
  }),
  'agent.tool_use': onThread((thread, { kind, runs_at: runsAt, ...use }) => addCall(thread, { ...use, kind, runsAt })),
  'agent.mcp_tool_use': onThread((thread, use) => {
    addCall(thread, { ...use, name: use.called_as, kind: 'mcp', runsAt: 'server' });
  }),
  'agent.custom_tool_use': onThread((thread, use) => {
    addCall(thread, { ...use, kind: 'custom', runsAt: 'client', evaluated_permission: 'allow' });
  }),
  'tool.started': onThread((thread, { tool_use_id: id, refusals = [] }, { time: since }) => {
    const call = thread.calls.get(id)!;
    // Child threads work on a delegation; the session itself merges.
    const isJoining = call.kind === 'session' && call.name !== MERGE_TOOL;
    call.progress = { type: isJoining ? 'joining' : 'running', since };
    for (const { index, reason } of refusals) call.answers.set(index, textAnswer(`ERR: ${reason}`, true));
  }),
  'agent.tool_result': onThread((thread, { tool_use_id: id, content, is_error: isError }) => {
    finishCall(thread, id, { content, isError });
  }),
  'agent.mcp_tool_result': onThread((thread, { mcp_tool_use_id: id, content, is_error: isError }) => {
    finishCall(thread, id, { content, isError });
  }),
  'agent.thread_message_received': (state, payload, { threadId }) => {
    const thread = threadOf(state, threadId!);
    const { id, content, from_session_thread_id: from, answers_call: toolUseId, is_error: isError } = payload;
    see(thread, content);
    if (from === thread.parentId) thread.calledBy = threadOf(state, from).turn?.streamId ?? null;
    const joined = toolUseId === null ? undefined : thread.calls.get(toolUseId);
    const index = threadOf(state, from).joinedBy?.index;
    if (joined !== undefined && index !== undefined) joined.answers.set(index, { content, isError });
    else if (payload.is_processed) thread.history.push({ role: 'user', content });
    else thread.inbox.push({ type: 'letter', id, content: withSender(payload), isQuiet: false });
  },
  'agent.thread_context_compacted': onThread((thread, { history }) => {
    thread.history = [...history];
    thread.answerUsage = null;
    // After a compaction, the turn begins behind the summary.
    if (thread.turn !== null) thread.turn.historyFrom = history.length;
  }),

  'span.model_request_start': onThread((thread, { id: startId, purpose, iteration }) => {
    const isProgrammed = thread.turn!.phase.type === 'program';
    if (isProgrammed) forgetDone(thread);
    else emitResults(thread);
    thread.blocks = [];
    thread.turn!.phase = isProgrammed ? { type: 'program', startId } : { type: 'requesting', startId, purpose };
    thread.turn!.iteration = iteration;
    if (purpose === 'compaction') thread.turn!.compactions++;
  }),
  'span.model_request_end': (state, payload, { threadId }) => {
    const { is_error: isError, model_usage: usage, stop_reason: reason, stop_details: details } = payload;
    const { not_run: notRun = [] } = payload;
    const thread = threadOf(state, threadId!);
    const turn = thread.turn!;
    thread.usage = addUsage(thread.usage, usage);
    state.usage = addUsage(state.usage, usage);
    state.requests++;
    if (turn.phase.type === 'program') {
      turn.phase = programPhase;
      turn.said = textOf(thread.blocks) || turn.said;
      thread.blocks = [];
      return;
    }
    const purpose = turn.phase.type === 'requesting' ? turn.phase.purpose : 'turn';
    const isAnswer = !isError && purpose === 'turn';
    const isPaused = reason === 'pause_turn' && thread.calls.size === 0;
    // A failed request is due again, also a summary: without it the next request would not fit.
    turn.phase = isAnswer && !isPaused ? { type: 'calling' } : { type: 'due', purpose: isError ? purpose : 'turn' };
    if (isError && purpose === 'compaction') turn.compactions--;
    if (!isAnswer) return;
    turn.said = textOf(thread.blocks) || turn.said;
    turn.answer = { reason: reason ?? 'end_turn', details };
    turn.failures = 0;
    turn.compactions = 0;
    thread.answerUsage = usage;
    if (notRun.some(({ reason: why }) => why === 'quoted')) turn.quotes++;
    if (thread.blocks.length > 0) thread.history.push({ role: 'assistant', content: thread.blocks });
    thread.blocks = [];
  },
};

/** The beginning of a message, by which a session is named and found. */
function firstText(content: readonly InputBlock[]): string | null {
  const text = content.find((block) => block.type === 'text')?.text;
  return text === undefined ? null : cutText(text, sessionLimits.searchCharsMax);
}
