import type { Draft } from '../draft.ts';
import { closeTurn, failTurn } from '../turn/end-turn.ts';
import { type Closing, closeOpen } from '../program/end-lost-program.ts';
import { endLostWork } from '../program/end-lost-work.ts';
import { isProgram, listProgramRoots } from '../state/program-threads.ts';
import { primaryOf, type Stopped, WORKSPACE_LOST } from '../state/state.ts';

/**
 * Ends every turn because the disk with the workspace is gone, with the node that had it: an agent that continued in an empty
 * directory would not know that its work is missing. An idle session gets the error too, before its next turn begins.
 */
export function applyWorkspaceLost(draft: Draft, { hasLostFiles = true }: { readonly hasLostFiles?: boolean }): void {
  // The next message begins with a new workspace, whose record begins again.
  if (hasLostFiles && draft.state.workspace !== null) draft.event(null, 'workspace.lost', {});
  const primary = primaryOf(draft.state);
  const message = isProgram(draft.state) || !hasLostFiles ? programGone : filesGone;
  const error = { type: 'unknown_error' as const, message, reason: WORKSPACE_LOST };
  const children = [...draft.state.threads.values()].filter((thread) => thread !== primary && thread.turn !== null);
  for (const child of children.toReversed()) {
    closeOpen(draft, child, NODE_GONE);
    const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
    // Without a report, which would begin the next turn of the parent thread.
    closeTurn(draft, child, { end: 'error', error: message, stop, isReported: false });
  }
  for (const root of listProgramRoots(draft.state)) endLostWork(draft, root, message);
  if (primary.turn === null) {
    draft.event(primary, 'session.error', { error, retry: 'exhausted', retry_at: null });
    return;
  }
  closeOpen(draft, primary, NODE_GONE);
  failTurn(draft, primary, error);
}

const NODE_GONE: Closing = { by: 'error', notApplied: 'restarted' };

const filesGone =
  'the node with the workspace of this session is gone and its files with it: send a message to go on without them. ' +
  'Repositories are cloned again, with the files of the last turn that ended';

/** Where workspaces are shared its files still exist, but not the conversation of the program. */
const programGone =
  'the node of this session is gone, and with it the conversation and what was on its disk: send a message to start again';
