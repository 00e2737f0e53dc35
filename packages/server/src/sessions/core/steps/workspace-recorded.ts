import type { InternalCommand, RecordedChange } from '../command.ts';
import type { Draft } from '../draft.ts';
import { threadOf } from '../state/state.ts';

/** Logs how the workspace was prepared: what its setup command did, and the files that the agents find. */
export function applyWorkspaceReady(
  draft: Draft,
  { opened, setup }: Extract<InternalCommand, { type: 'workspace_ready' }>,
): void {
  if (setup !== null) draft.event(null, 'workspace.setup', setup);
  if (opened !== null && draft.state.workspace === null) draft.event(null, 'workspace.opened', opened);
}

/** Logs what the user did with the changes: took them, or left them. Also after the session has ended. */
export function applyWorkspaceEnd(
  draft: Draft,
  command: Extract<InternalCommand, { type: 'workspace_applied' | 'workspace_discarded' }>,
): void {
  if (command.type === 'workspace_applied') draft.event(null, 'workspace.applied', command.applied);
  else draft.event(null, 'workspace.discarded', { by: command.by });
}

/** Logs the worktree of a thread, and what is merged from it. */
export function applyIsolation(
  draft: Draft,
  command: Extract<InternalCommand, { type: 'workspace_isolated' | 'merge_started' | 'merge_ended' }>,
): void {
  if (command.type === 'workspace_isolated') {
    const { isolated } = command;
    draft.event(threadOf(draft.state, isolated.session_thread_id), 'workspace.isolated', isolated);
  } else if (command.type === 'merge_started') draft.event(null, 'workspace.merge_started', command.merge);
  else draft.event(null, 'workspace.merge_ended', command.merge);
}

/** Logs changed files, in the turn of the thread that changed them. */
export function addChange(draft: Draft, { threadId, payload }: RecordedChange): void {
  const thread = threadId === null ? null : (draft.state.threads.get(threadId) ?? null);
  draft.event(thread, 'workspace.changed', payload);
}
