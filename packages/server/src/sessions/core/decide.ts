import type { Command, InternalCommand, RecordedChange } from './command.ts';
import type { PreparationProblem } from '../../frames/payload-parts.ts';
import type { ToolResult } from '../../tools/tool.ts';
import type { ToolProblem } from '../../tools/toolbox.ts';
import { isOverBudget } from './state/budget.ts';
import { rejectOversized } from './content-size.ts';
import { Draft, type Sources } from './draft.ts';
import { endSession } from './steps/end-session.ts';
import { terminate } from './turn/end-turn.ts';
import { addInterruptedResult, addToolResult } from './turn/add-tool-result.ts';
import { interrupt } from './turn/interrupt.ts';
import { applyProgramEvent } from './program/apply-program-event.ts';
import { endLostProgram } from './program/end-lost-program.ts';
import { endLostWork } from './program/end-lost-work.ts';
import { applyWorkspaceLost } from './steps/workspace-lost.ts';
import { addChange, applyIsolation, applyWorkspaceEnd, applyWorkspaceReady } from './steps/workspace-recorded.ts';
import { recover } from './steps/recover.ts';
import { settle } from './steps/settle.ts';
import { listProgramRoots, listProgramThreads } from './state/program-threads.ts';
import { primaryOf, type SessionState, type ThreadState, threadOf } from './state/state.ts';
import { applyModelResponse } from './steps/apply-model-response.ts';
import { applySummary } from './steps/apply-summary.ts';
import { failSession, applyRequestFailure } from './steps/apply-request-failure.ts';
import { applyInputs, applyInputsAfterEnd } from './steps/apply-inputs.ts';

/**
 * The session as a pure state machine: a state and a command give frames and the next state. Time and ids are passed in.
 * Start reading here: `apply` names the step for each command. `change`: files that have changed before it.
 */
export function decide(state: SessionState, command: Command, sources: Sources, change?: RecordedChange): Draft {
  const draft = new Draft(state, sources);
  // Whatever becomes of the command: the files have changed.
  if (change !== undefined) addChange(draft, change);
  // A terminated session can only be archived, and late decisions are logged.
  if (state.status === 'terminated') return applyAfterEnd(draft, command);
  if (command.type === 'inputs') applyInputs(draft, command.inputs);
  else applyAndSettle(draft, command);
  return draft;
}

function applyAfterEnd(draft: Draft, command: Command): Draft {
  if (command.type === 'inputs') applyInputsAfterEnd(draft, command.inputs);
  if (command.type === 'workspace_applied' || command.type === 'workspace_discarded') applyWorkspaceEnd(draft, command);
  if (command.type === 'merge_started' || command.type === 'merge_ended') applyIsolation(draft, command);
  if (command.type === 'archive' && !draft.state.isArchived) {
    draft.event(null, 'session.status_terminated', { is_archived: true });
  }
  return draft;
}

function applyAndSettle(draft: Draft, command: InternalCommand): void {
  apply(draft, rejectOversized(command, draft.state));
  settle(draft);
}

function apply(draft: Draft, command: InternalCommand): void {
  switch (command.type) {
    case 'answered':
      return ifRequesting(draft, command.threadId, command.answered, (thread) =>
        applyModelResponse(draft, thread, command.answered),
      );
    case 'summarised':
      return ifRequesting(draft, command.threadId, command.summarised, (thread) =>
        applySummary(draft, thread, command.summarised),
      );
    case 'failed':
      return ifRequesting(draft, command.threadId, command.failed, (thread) =>
        applyRequestFailure(draft, thread, command.failed),
      );
    case 'retry':
      return retry(draft, threadOf(draft.state, command.threadId), command.at);
    case 'tool_finished':
      return finishTool(draft, threadOf(draft.state, command.threadId), command.toolUseId, command.result);
    case 'tool_problems':
      return ifRequesting(draft, command.threadId, command, (thread) => {
        for (const problem of command.problems) reportToolProblem(draft, thread, problem);
      });
    case 'preparation_problems':
      for (const problem of command.problems) reportPreparationProblem(draft, problem);
      return;
    case 'connections':
      for (const entry of command.entries) draft.add(null, 'egress.connection', entry);
      return;
    case 'program': {
      const { rootId = draft.state.created.primary_thread_id } = command;
      for (const event of command.events) applyProgramEvent(draft, threadOf(draft.state, rootId), event);
      return;
    }
    case 'workspace_ready':
      return applyWorkspaceReady(draft, command);
    case 'workspace_changed':
      return;
    case 'workspace_isolated':
    case 'merge_started':
    case 'merge_ended':
      return applyIsolation(draft, command);
    case 'workspace_applied':
    case 'workspace_discarded':
      return applyWorkspaceEnd(draft, command);
    case 'update':
      return void draft.event(null, 'session.updated', command.changes);
    case 'archive':
      return endSession(draft, { end: 'cancelled', error: 'the session was archived', isArchived: true });
    case 'archive_thread':
      return archiveThread(draft, threadOf(draft.state, command.threadId));
    case 'time':
      return checkTime(draft);
    case 'unwritable':
      return failSession(draft, primaryOf(draft.state), { type: 'unknown_error', message: command.message });
    case 'recover':
      return recover(draft, command.cause);
    case 'release_programs':
      for (const root of listProgramRoots(draft.state).toReversed())
        endLostProgram(draft, root, { message: command.message, reason: 'program_released', by: 'release' });
      return;
    case 'workspace_lost':
      return applyWorkspaceLost(draft, command);
  }
}

/** Interrupts running threads when the time budget is used up: no model request may be due for a long time. */
function checkTime(draft: Draft): void {
  const { state, now } = draft;
  const isUp = state.run !== null && state.created.ends_at_budget === true && isOverBudget(state, now);
  if (isUp) interrupt(draft, [...state.threads.values()], 'limit');
}

/** The outcome of a model request that was cancelled in the meantime is dropped. */
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
  if (thread.turn!.stopping !== null) addInterruptedResult(draft, thread, call);
  else addToolResult(draft, thread, call, { content, isError });
}

function reportToolProblem(draft: Draft, thread: ThreadState, { type, serverName, message }: ToolProblem): void {
  draft.event(thread, 'session.error', {
    error: { type: `${type}_error`, message, mcp_server_name: serverName },
    retry: 'retrying',
    retry_at: null,
  });
}

/** The session continues without what failed; a repository is tried again when it runs the next time. */
function reportPreparationProblem(draft: Draft, error: PreparationProblem): void {
  draft.event(primaryOf(draft.state), 'session.error', { error, retry: 'retrying', retry_at: null });
}

/** The parent thread still waits for a report, so it gets one. */
function archiveThread(draft: Draft, thread: ThreadState): void {
  const { state } = draft;
  const ending = { end: 'cancelled', error: 'its thread was archived', isArchived: true } as const;
  // The sub-agents of a program end with its main agent.
  const subAgents = thread.programKey === null ? listProgramThreads(state, thread).slice(1) : [];
  for (const subAgent of subAgents.toReversed())
    if (subAgent.status !== 'terminated') terminate(draft, subAgent, { ...ending, isReported: false });
  endLostWork(draft, thread, ending.error);
  terminate(draft, thread, { ...ending, isReported: true });
}
