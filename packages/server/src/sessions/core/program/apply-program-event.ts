import type { TakenEvent } from '../command.ts';
import type { ProgramEvent } from '../../../engines/program/program.ts';
import type { Draft } from '../draft.ts';
import { addInterruptedResult, addToolResult } from '../turn/add-tool-result.ts';
import { announceRunning, startTurn } from '../turn/start-turn.ts';
import { logThreadOf } from '../state/program-threads.ts';
import type { ThreadState } from '../state/state.ts';
import { toTotals } from '../state/usage.ts';
import { findCall, findThread } from './find-thread.ts';
import { dropAnswer } from './drop-answer.ts';
import { endLostProgram } from './end-lost-program.ts';
import { endLostWork } from './end-lost-work.ts';
import { applyApprovalRequest, applyProgramCall } from './apply-program-call.ts';
import { applyThreadEnd, applyTurnEnd } from './apply-program-end.ts';
import { applyProgramWork } from './apply-program-work.ts';
import { applyThreadOpened, applyThreadStarted, receiveMessage } from './apply-program-thread.ts';

/** Logs an event of the program that runs `root`. Events after the end of a turn are dropped: their calls were logged as interrupted. */
export function applyProgramEvent(draft: Draft, root: ThreadState, taken: TakenEvent): void {
  const { event } = taken;
  // Its thread was archived, and the program is about to end.
  if (root.status === 'terminated' && event.type !== 'exited') return;
  switch (event.type) {
    case 'opened': {
      const { conversation, version } = event;
      if (root.program.conversation !== conversation)
        draft.add(logThreadOf(root), 'program.opened', { conversation, version });
      return;
    }
    case 'turn_expected':
    case 'turn_started':
      return startOwnTurn(draft, root);
    case 'turn_ended':
      return applyTurnEnd(draft, root, event);
    case 'thread_opened':
      return applyThreadOpened(draft, root, event);
    case 'thread_started':
      return applyThreadStarted(draft, root, event);
    case 'thread_ended':
      return applyThreadEnd(draft, root, event);
    case 'exited':
      if (event.refusal !== undefined)
        return endLostProgram(draft, root, { message: event.message, reason: event.refusal });
      return endLostProgram(draft, root, { message: `the program is gone: ${event.message}` });
    case 'work_started':
    case 'work_ended':
      return applyProgramWork(draft, root, event);
    case 'work_lost':
      return endLostWork(draft, root, event.reason);
    case 'files_rewound': {
      const { messageId: message_id, by, files, added: lines_added, removed: lines_removed } = event;
      return draft.add(logThreadOf(root), 'program.files_rewound', {
        message_id,
        by,
        files,
        lines_added,
        lines_removed,
      });
    }
    default: {
      const thread = findThread(draft.state, root, event.key);
      if (thread !== undefined && thread.turn !== null) applyInTurn(draft, thread, taken);
    }
  }
}

/** A turn without an input: the program continues on its own when a sub-agent in the background has ended. */
function startOwnTurn(draft: Draft, root: ThreadState): void {
  if (root.turn !== null) return;
  const task = [{ type: 'text' as const, text: 'The program continues on its own.' }];
  // The parent's turn may belong to a run that is over.
  const parentStreamId = draft.state.run === null ? null : root.calledBy;
  startTurn(draft, root, { parentStreamId, childIndex: null, fresh: [], task });
}

function applyInTurn(draft: Draft, thread: ThreadState, taken: TakenEvent): void {
  const { event, id } = taken;
  switch (event.type) {
    case 'thread_message':
      return receiveMessage(draft, thread, [{ type: 'text', text: event.text }]);
    case 'request_started':
      announceRunning(draft, thread);
      return void draft.event(thread, 'span.model_request_start', {
        model: event.model,
        iteration: thread.turn!.iteration + 1,
        purpose: 'turn',
      });
    case 'request_ended':
      return endRequest(draft, thread, event, taken.costNanoUsd ?? null);
    case 'block_ended':
      return takeBlock(draft, thread, event.content, id);
    case 'call':
      return applyProgramCall(draft, thread, event);
    case 'ask':
      return applyApprovalRequest(draft, thread, findCall(thread, event.callId), event);
    case 'result': {
      const call = findCall(thread, event.callId);
      if (call === undefined) return;
      // The program ended the call without the answer, e.g. because it refused the call on its own.
      dropAnswer(draft, thread, call, 'call_ended');
      if (call.progress.type === 'done') return;
      // A call that still waits for its result from outside was ended by the program, e.g. because it was aborted there.
      const ended = call.progress.type === 'outside' ? { by: undefined } : undefined;
      const { content, isError, file } = event;
      // A result from before the stop may be read from a transcript only afterwards.
      const hasSucceeded = !isError && call.progress.type === 'running';
      const stop = thread.turn!.stopping === null || hasSucceeded ? ended : ({ by: 'cancel' } as const);
      return addToolResult(draft, thread, call, { content, isError, file }, stop);
    }
    case 'answered': {
      const call = findCall(thread, event.callId);
      if (call === undefined || call.answerId === null) return;
      return draft.add(thread, 'answer.delivered', { answer_id: call.answerId, tool_use_id: call.id });
    }
    case 'ask_withdrawn': {
      const call = findCall(thread, event.callId);
      if (call?.progress.type === 'asking') addInterruptedResult(draft, thread, call, 'cancel');
      return;
    }
    case 'retry':
      return void draft.event(thread, 'session.error', {
        error: { type: toErrorType(event.status), message: toFailure(event) },
        retry: 'retrying',
        retry_at: null,
        program_retry: {
          at: draft.now + event.delayMs,
          attempts_max: event.retriesMax === null ? null : event.retriesMax + 1,
        },
      });
    case 'settings_loaded': {
      const { settings, instructions, hooks, agents, skills, rules } = event;
      return draft.add(thread, 'program.settings', { settings, instructions, hooks, agents, skills, rules });
    }
    case 'server_failed':
      return void draft.event(thread, 'session.error', {
        error: {
          type: event.isLogin ? 'mcp_authentication_failed_error' : 'mcp_connection_failed_error',
          message: toServerProblem(event),
          mcp_server_name: event.serverName,
        },
        retry: 'retrying',
        retry_at: null,
      });
    case 'request_failed':
    case 'transcript_missing':
      return void draft.event(thread, 'session.error', {
        error: {
          type: event.type === 'request_failed' ? 'model_request_failed_error' : 'unknown_error',
          message: event.message,
        },
        retry: 'exhausted',
        retry_at: null,
      });
    case 'plan':
      return draft.add(thread, 'agent.plan', { items: event.items });
    case 'compacted':
      return void draft.event(thread, 'agent.thread_context_compacted', { history: [] });
    default:
      // The rest is about the whole, not about what happens in a turn.
      return;
  }
}

function endRequest(
  draft: Draft,
  thread: ThreadState,
  event: Extract<ProgramEvent, { type: 'request_ended' }>,
  costNanoUsd: number | null,
): void {
  const phase = thread.turn?.phase;
  if (phase?.type !== 'program' || phase.startId === null) return;
  draft.event(thread, 'span.model_request_end', {
    model_request_start_id: phase.startId,
    is_error: event.isError,
    model: event.model,
    model_usage: toTotals(event.usage, costNanoUsd),
    stop_reason: event.stopReason,
    stop_details: null,
    context_window: draft.windowTokens(event.model),
  });
}

type Block = Extract<ProgramEvent, { type: 'block_ended' }>['content'];

function takeBlock(draft: Draft, thread: ThreadState, block: Block, id: string | undefined): void {
  if (block.type === 'text') {
    if (block.text === '') return;
    if (id === undefined) draft.event(thread, 'agent.message', { content: [block] });
    else draft.add(thread, 'agent.message', { id, content: [block] });
  } else if (block.type === 'thinking') {
    if (id === undefined) draft.event(thread, 'agent.thinking', { block });
    else draft.add(thread, 'agent.thinking', { id, block });
  } else {
    draft.add(thread, 'agent.block', { block });
  }
}

function toServerProblem({ serverName, isLogin, reason }: Extract<ProgramEvent, { type: 'server_failed' }>): string {
  const problem = `the program ${isLogin ? 'is not let in by' : 'cannot reach'} ${serverName}`;
  return reason === null ? problem : `${problem}: ${reason}`;
}

/** As model engines report it: the HTTP status first. */
function toFailure({ status, message }: Extract<ProgramEvent, { type: 'retry' }>): string {
  return status === null || message.startsWith(String(status)) ? message : `${status} ${message}`;
}

function toErrorType(status: number | null) {
  if (status === 529) return 'model_overloaded_error';
  return status === 429 ? 'model_rate_limited_error' : 'model_request_failed_error';
}
