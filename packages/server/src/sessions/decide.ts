import type { ToolResult } from '../tools/tool.ts';
import type { ToolProblem } from '../tools/toolbox.ts';
import { isOverBudget } from './budget.ts';
import type { ClientInput } from './client-event.ts';
import { toKeepable } from './content-size.ts';
import { Draft, type Sources } from './draft.ts';
import { endSession } from './end-session.ts';
import { terminate } from './end-turn.ts';
import type { FramePayloads } from '../frames/frames.ts';
import { giveInterruption, giveResult } from './give-result.ts';
import { interrupt } from './interrupt.ts';
import { type TakenEvent, takeProgramEvent } from './program/take-program-event.ts';
import { loseProgram } from './program/lose-program.ts';
import { loseWorkspace } from './lose-workspace.ts';
import { recover } from './recover.ts';
import { settle } from './settle.ts';
import { primaryOf, type SessionState, type ThreadState, threadOf } from './state.ts';
import { type Answered, takeAnswer } from './take-answer.ts';
import { type Summarised, takeSummary } from './take-summary.ts';
import { type Failed, loseSession, takeFailure } from './take-failure.ts';
import { takeInputs, takeInputsAfterEnd } from './take-inputs.ts';

/** Everything that can happen to a session from outside. What it makes of it is frames. */
export type Command =
  | { readonly type: 'inputs'; readonly inputs: readonly ClientInput[] }
  | { readonly type: 'answered'; readonly threadId: string; readonly answered: Answered }
  | { readonly type: 'summarised'; readonly threadId: string; readonly summarised: Summarised }
  | { readonly type: 'failed'; readonly threadId: string; readonly failed: Failed }
  | { readonly type: 'retry'; readonly threadId: string; readonly at: number }
  | {
      readonly type: 'tool_finished';
      readonly threadId: string;
      readonly toolUseId: string;
      readonly result: ToolResult;
    }
  | {
      readonly type: 'tool_problems';
      readonly threadId: string;
      readonly startId: string;
      readonly problems: readonly ToolProblem[];
    }
  /** The program that runs the session has done something. */
  | { readonly type: 'program'; readonly events: readonly TakenEvent[] }
  | { readonly type: 'update'; readonly changes: Omit<FramePayloads['session.updated'], 'id'> }
  | { readonly type: 'archive' }
  | { readonly type: 'archive_thread'; readonly threadId: string }
  /** The time of a run may be up. */
  | { readonly type: 'time' }
  /** What it came to cannot be written, and would come again. */
  | { readonly type: 'unwritable'; readonly message: string }
  /** The first thing after a session was read from its log. */
  | {
      readonly type: 'recover';
      /** Why this process gave the session up before; null: another process owned it. */
      readonly cause?: string | null | undefined;
    }
  /** The program is ended although it has something under way. */
  | { readonly type: 'release_program'; readonly message: string }
  /** The same where the disk with its workspace is gone. */
  | { readonly type: 'workspace_lost' };

/** Everything but what clients send. */
export type Happening = Exclude<Command, { type: 'inputs' }>;

/**
 * The session as a state machine: a state and something that happens give frames and the next state. It asks nobody and
 * waits for nothing; time and ids are handed in.
 */
export function decide(state: SessionState, command: Command, sources: Sources): Draft {
  const draft = new Draft(state, sources);
  // Nothing happens to a session that has ended, except that it is archived and that late answers are logged.
  if (state.status === 'terminated') return takeAfterEnd(draft, command);
  if (command.type === 'inputs') takeInputs(draft, command.inputs);
  else settleAfter(draft, command);
  return draft;
}

function takeAfterEnd(draft: Draft, command: Command): Draft {
  if (command.type === 'inputs') takeInputsAfterEnd(draft, command.inputs);
  if (command.type === 'archive' && !draft.state.isArchived) {
    draft.event(null, 'session.status_terminated', { is_archived: true });
  }
  return draft;
}

function settleAfter(draft: Draft, command: Happening): void {
  apply(draft, toKeepable(command));
  settle(draft);
}

function apply(draft: Draft, command: Happening): void {
  switch (command.type) {
    case 'answered':
      return ifRequesting(draft, command.threadId, command.answered, (thread) =>
        takeAnswer(draft, thread, command.answered),
      );
    case 'summarised':
      return ifRequesting(draft, command.threadId, command.summarised, (thread) =>
        takeSummary(draft, thread, command.summarised),
      );
    case 'failed':
      return ifRequesting(draft, command.threadId, command.failed, (thread) =>
        takeFailure(draft, thread, command.failed),
      );
    case 'retry':
      return retry(draft, threadOf(draft.state, command.threadId), command.at);
    case 'tool_finished':
      return finishTool(draft, threadOf(draft.state, command.threadId), command.toolUseId, command.result);
    case 'tool_problems':
      return ifRequesting(draft, command.threadId, command, (thread) => {
        for (const problem of command.problems) tellProblem(draft, thread, problem);
      });
    case 'program':
      for (const event of command.events) takeProgramEvent(draft, event);
      return;
    case 'update':
      return void draft.event(null, 'session.updated', command.changes);
    case 'archive':
      return endSession(draft, { end: 'cancelled', error: 'the session was archived', isArchived: true });
    case 'archive_thread':
      return archiveThread(draft, threadOf(draft.state, command.threadId));
    case 'time':
      return checkTime(draft);
    case 'unwritable':
      return loseSession(draft, primaryOf(draft.state), { type: 'unknown_error', message: command.message });
    case 'recover':
      return recover(draft, command.cause);
    case 'release_program':
      return loseProgram(draft, { message: command.message, reason: 'program_released', by: 'release' });
    case 'workspace_lost':
      return loseWorkspace(draft);
  }
}

/** Whoever is at work then is stopped, because time passes also while nobody asks for anything. */
function checkTime(draft: Draft): void {
  const { state, now } = draft;
  const isUp = state.run !== null && state.created.ends_at_budget === true && isOverBudget(state, now);
  if (isUp) interrupt(draft, [...state.threads.values()], 'limit');
}

/** What comes of a request that was dropped in the meantime is dropped too. */
function ifRequesting(
  draft: Draft,
  threadId: string,
  { startId }: { readonly startId: string },
  take: (thread: ThreadState) => void,
): void {
  const thread = threadOf(draft.state, threadId);
  const phase = thread.turn?.phase;
  if (phase?.type === 'requesting' && phase.startId === startId) take(thread);
}

function retry(draft: Draft, thread: ThreadState, at: number): void {
  const phase = thread.turn?.phase;
  if (phase?.type === 'waiting' && phase.at === at) draft.add(thread, 'turn.retried', {});
}

function finishTool(draft: Draft, thread: ThreadState, toolUseId: string, { content, isError }: ToolResult): void {
  const call = thread.calls.get(toolUseId);
  if (call?.progress.type !== 'running') return;
  if (thread.turn!.stopping !== null) giveInterruption(draft, thread, call);
  else giveResult(draft, thread, call, { content, isError });
}

function tellProblem(draft: Draft, thread: ThreadState, { type, serverName, message }: ToolProblem): void {
  draft.event(thread, 'session.error', {
    error: { type: `${type}_error`, message, mcp_server_name: serverName },
    retry: 'retrying',
    retry_at: null,
  });
}

/** Who delegated to it still waits for a report, so it is told. */
function archiveThread(draft: Draft, thread: ThreadState): void {
  terminate(draft, thread, { end: 'cancelled', error: 'its thread was archived', isReported: true, isArchived: true });
}
