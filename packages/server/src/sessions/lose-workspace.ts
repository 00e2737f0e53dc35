import type { Draft } from './draft.ts';
import { closeTurn, failTurn } from './end-turn.ts';
import { closeOpen } from './program/lose-program.ts';
import { loseWork } from './program/lose-work.ts';
import { isProgram, primaryOf, type Stopped, WORKSPACE_LOST } from './state.ts';

/**
 * The disk with the workspace is gone, with the node that had it. Every turn ends where it is: an agent that went on in an
 * empty directory would not know that its work is missing. Who was at rest is told too, before the next turn begins.
 */
export function loseWorkspace(draft: Draft): void {
  const primary = primaryOf(draft.state);
  const message = isProgram(draft.state) ? programGone : filesGone;
  const error = { type: 'unknown_error' as const, message, reason: WORKSPACE_LOST };
  const children = [...draft.state.threads.values()].filter((thread) => thread !== primary && thread.turn !== null);
  for (const child of children.toReversed()) {
    closeOpen(draft, child);
    const stop: Stopped = { reason: { type: 'retries_exhausted' }, details: null };
    // Nobody is told: a report would begin the next turn of whoever delegated it.
    closeTurn(draft, child, { end: 'error', error: message, stop, isReported: false });
  }
  loseWork(draft, message);
  if (primary.turn === null) {
    draft.event(primary, 'session.error', { error, retry: 'exhausted', retry_at: null });
    return;
  }
  closeOpen(draft, primary);
  failTurn(draft, primary, error);
}

const filesGone =
  'the node with the workspace of this session is gone and its files with it: send a message to go on without them';

/** Where workspaces are shared its files are still there, but not what it has said and heard. */
const programGone =
  'the node of this session is gone, and with it the conversation and what was on its disk: send a message to begin anew';
