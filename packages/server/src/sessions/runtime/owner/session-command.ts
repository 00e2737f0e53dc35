import { isDeepStrictEqual } from 'node:util';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../../base/json/json.ts';
import type { FramePayloads } from '../../../frames/frames.ts';
import { sessionError } from '../../core/session-errors.ts';
import type { SessionState } from '../../core/state/state.ts';
import { findMergeProblem } from '../../core/delegation/start-merge.ts';
import { toUpdate } from '../../core/steps/to-update.ts';

/** A command that only the owner of a session can run, as data: it may be forwarded to another node. */
export type SessionCommand =
  | {
      readonly type: 'update';
      readonly changes: Omit<FramePayloads['session.updated'], 'id'>;
      /** The state that the changes were made on. If it has changed since, the caller computes the changes again. */
      readonly made_on: { readonly metadata?: JsonObject; readonly agent?: SessionAgent };
    }
  | { readonly type: 'archive' }
  | { readonly type: 'delete' }
  | { readonly type: 'archive_thread'; readonly thread_id: string }
  | { readonly type: 'workspace_applied'; readonly applied: Omit<FramePayloads['workspace.applied'], 'id'> }
  | { readonly type: 'discard_workspace'; readonly by: string }
  | {
      readonly type: 'restore_workspace';
      /** The tree with the files as they are on disk. */
      readonly from: string;
      readonly tree: string;
      readonly by: string;
    }
  | { readonly type: 'merge_changes'; readonly thread_id: string; readonly by: string }
  /** A rule was created: pending approvals that it allows are answered. */
  | { readonly type: 'decide_by_rules' }
  /** A command whose caller has stopped waiting. */
  | { readonly type: 'too_late' };

/** What a command does to the session in its current state. */
export type CommandPlan =
  | { readonly type: 'nothing' }
  | { readonly type: 'outdated' }
  | { readonly type: 'delete' }
  | { readonly type: 'decide_by_rules' }
  | { readonly type: 'update'; readonly changes: Omit<FramePayloads['session.updated'], 'id'> }
  | { readonly type: 'archive' }
  | { readonly type: 'archive_thread'; readonly threadId: string }
  | { readonly type: 'workspace_applied'; readonly applied: Omit<FramePayloads['workspace.applied'], 'id'> }
  | { readonly type: 'workspace_discarded'; readonly by: string }
  | { readonly type: 'restore'; readonly from: string; readonly tree: string; readonly by: string }
  | { readonly type: 'merge'; readonly threadId: string; readonly by: string };

/** Checks a command against the state of the session. Throws a session error if it is rejected. */
export function planCommand(state: SessionState, command: SessionCommand): CommandPlan {
  switch (command.type) {
    case 'update':
      return planUpdate(state, command);
    case 'archive':
      if (state.isArchived) return { type: 'nothing' };
      checkIdle(state);
      return { type: 'archive' };
    case 'delete':
      checkIdle(state);
      return { type: 'delete' };
    case 'archive_thread':
      return planThreadArchive(state, command.thread_id);
    case 'workspace_applied':
    case 'decide_by_rules':
      return command;
    case 'discard_workspace':
      checkIdle(state);
      return { type: 'workspace_discarded', by: command.by };
    case 'restore_workspace':
      if (state.status === 'terminated') throw over(state);
      checkIdle(state);
      return { type: 'restore', from: command.from, tree: command.tree, by: command.by };
    case 'merge_changes':
      return planMerge(state, command);
    case 'too_late':
      throw sessionError('session_elsewhere', `the owner of ${state.id} did not run the command in time`);
  }
}

function planUpdate(state: SessionState, command: Extract<SessionCommand, { type: 'update' }>): CommandPlan {
  const { changes, made_on: madeOn } = command;
  if (state.status === 'terminated') throw over(state);
  if (!isAsKnown(madeOn.metadata, state.metadata) || !isAsKnown(madeOn.agent, state.agent)) return { type: 'outdated' };
  const { agent, ...rest } = changes;
  const still = toUpdate(state, { ...rest, ...(agent === undefined ? {} : { agent: () => agent }) });
  return Object.keys(still).length === 0 ? { type: 'nothing' } : { type: 'update', changes: still };
}

/** `made_on` was sent as JSON; the current value may have fields that are undefined. */
function isAsKnown(madeOn: object | undefined, current: object): boolean {
  return madeOn === undefined || isDeepStrictEqual(madeOn, JSON.parse(JSON.stringify(current)));
}

function planThreadArchive(state: SessionState, threadId: string): CommandPlan {
  const thread = state.threads.get(threadId);
  if (thread === undefined) throw sessionError('thread_not_found', `${state.id} has no thread ${threadId}`);
  if (thread.parentId === null) throw sessionError('thread_is_primary', `${threadId} is the primary thread`);
  if (thread.status === 'running' || thread.status === 'rescheduling') {
    throw sessionError('thread_running', `${threadId} is running`);
  }
  if (thread.isArchived) return { type: 'nothing' };
  if (state.status === 'terminated') throw over(state);
  return { type: 'archive_thread', threadId };
}

function planMerge(state: SessionState, { thread_id: threadId, by }: { thread_id: string; by: string }): CommandPlan {
  if (state.status === 'terminated') throw over(state);
  if (!state.threads.has(threadId)) throw sessionError('thread_not_found', `${state.id} has no thread ${threadId}`);
  checkIdle(state);
  const problem = findMergeProblem(state, threadId);
  if (problem !== null) throw sessionError('not_mergeable', problem);
  return { type: 'merge', threadId, by };
}

function checkIdle({ id, status }: SessionState): void {
  if (status === 'running' || status === 'rescheduling') throw sessionError('session_running', `${id} is ${status}`);
}

/** The error for a terminated session. */
export function over({ id, isArchived }: Pick<SessionState, 'id' | 'isArchived'>): Error {
  return isArchived
    ? sessionError('session_archived', `${id} is archived`)
    : sessionError('session_terminated', `${id} is terminated`);
}
