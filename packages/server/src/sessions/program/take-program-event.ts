import type { ProgramEvent } from '../../engines/program.ts';
import type { Draft } from '../draft.ts';
import { giveInterruption, giveResult } from '../give-result.ts';
import { announceRunning, startTurn } from '../start-turn.ts';
import { primaryOf, type ThreadState } from '../state.ts';
import { toTotals } from '../take-answer.ts';
import { findCall, findThread } from './find-thread.ts';
import { loseProgram } from './lose-program.ts';
import { loseWork } from './lose-work.ts';
import { takeAsk, takeProgramCall } from './take-program-call.ts';
import { takeThreadEnd, takeTurnEnd } from './take-program-end.ts';
import { takeProgramWork } from './take-program-work.ts';
import { takeThread, takeThreadAgain } from './take-program-thread.ts';

/** What a program told, and what was added on the way. */
export interface TakenEvent {
  readonly event: Exclude<ProgramEvent, { type: 'block_started' | 'block_delta' }> | WorkLost;
  /** Of a block: the id that it was given while it grew. */
  readonly id?: string | undefined;
  /** Of a request: what it cost; null if the price is not known. */
  readonly costNanoUsd?: number | null | undefined;
}

/** The program is ended while no turn is open: only its work outside of turns is lost. */
export interface WorkLost {
  readonly type: 'work_lost';
  readonly key: string;
  readonly reason: string;
}

/** Writes down what a program has done. What comes behind the end of a turn is dropped: it was told as interrupted. */
export function takeProgramEvent(draft: Draft, taken: TakenEvent): void {
  const { event } = taken;
  const { state } = draft;
  switch (event.type) {
    case 'opened': {
      const { conversation, version } = event;
      if (state.conversation !== conversation) draft.add(null, 'program.opened', { conversation, version });
      return;
    }
    case 'turn_expected':
    case 'turn_started':
      return takeTurn(draft);
    case 'turn_ended':
      return takeTurnEnd(draft, event);
    case 'thread_opened':
      return takeThread(draft, event);
    case 'thread_started':
      return takeThreadAgain(draft, event);
    case 'thread_ended':
      return takeThreadEnd(draft, event);
    case 'exited':
      if (event.refusal !== undefined) return loseProgram(draft, { message: event.message, reason: event.refusal });
      return loseProgram(draft, { message: `the program is gone: ${event.message}` });
    case 'work_started':
    case 'work_ended':
      return takeProgramWork(draft, event);
    case 'work_lost':
      return loseWork(draft, event.reason);
    default: {
      const thread = findThread(state, event.key);
      if (thread !== undefined && thread.turn !== null) takeInTurn(draft, thread, taken);
    }
  }
}

/** One that nobody asked for: the program goes on by itself when a sub-agent in the background has ended. */
function takeTurn(draft: Draft): void {
  const primary = primaryOf(draft.state);
  if (primary.turn !== null || primary.status === 'terminated') return;
  const task = [{ type: 'text' as const, text: 'It goes on by itself.' }];
  startTurn(draft, primary, { parentStreamId: null, childIndex: null, fresh: [], task });
}

function takeInTurn(draft: Draft, thread: ThreadState, taken: TakenEvent): void {
  const { event, id } = taken;
  switch (event.type) {
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
      return takeProgramCall(draft, thread, event);
    case 'ask':
      return takeAsk(draft, thread, findCall(thread, event.callId), event);
    case 'result': {
      const call = findCall(thread, event.callId);
      if (call === undefined || call.progress.type === 'done') return;
      // A call that still waits for its result from outside was ended by the program, e.g. because it was aborted there.
      const ended = call.progress.type === 'outside' ? { by: undefined } : undefined;
      const stop = thread.turn!.stopping === null ? ended : ({ by: 'cancel' } as const);
      const { content, isError, file } = event;
      return giveResult(draft, thread, call, { content, isError, file }, stop);
    }
    case 'ask_withdrawn': {
      const call = findCall(thread, event.callId);
      if (call?.progress.type === 'asking') giveInterruption(draft, thread, call, 'cancel');
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
    case 'transcript_missing':
      return void draft.event(thread, 'session.error', {
        error: { type: 'unknown_error', message: event.message },
        retry: 'exhausted',
        retry_at: null,
      });
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
