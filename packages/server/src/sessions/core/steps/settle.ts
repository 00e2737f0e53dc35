import { advance } from './advance.ts';
import type { Draft } from '../draft.ts';
import { updateStatuses } from './update-statuses.ts';
import { keepWaiting, startTurn } from '../turn/start-turn.ts';
import { primaryOf, type Waiting } from '../state/state.ts';

/**
 * Advances a session until nothing is left to do: every turn goes as far as it can, threads with messages begin a turn, and
 * the statuses are updated. Runs after every command.
 */
export function settle(draft: Draft, fresh: readonly Waiting[] = []): void {
  receive(draft, fresh);
  let written: number;
  do {
    written = draft.frames.length;
    // Includes threads that are created on the way: a Map iterates over them too.
    for (const thread of draft.state.threads.values()) advance(draft, thread);
    startWaiting(draft);
    // The end of one thread may be the result of another's call, so it repeats until nothing is added.
  } while (draft.frames.length > written);
  updateStatuses(draft);
}

/** Messages of clients begin a turn of the primary thread, or wait in its inbox while it is running. */
function receive(draft: Draft, fresh: readonly Waiting[]): void {
  const primary = primaryOf(draft.state);
  if (fresh.length === 0) return;
  if (primary.turn === null) return startTurn(draft, primary, { parentStreamId: null, childIndex: null, fresh });
  for (const waiting of fresh) keepWaiting(draft, primary, waiting);
}

/** Idle threads with messages begin a turn. */
function startWaiting(draft: Draft): void {
  for (const thread of draft.state.threads.values()) {
    if (thread.turn !== null || thread.status === 'terminated' || !thread.inbox.some(isWaking)) continue;
    // The parent's turn belongs to a run that is over: a message to the thread begins a new one.
    const parentStreamId = draft.state.run === null ? null : thread.calledBy;
    startTurn(draft, thread, { parentStreamId, childIndex: null, fresh: [] });
  }
}

function isWaking(waiting: Waiting): boolean {
  return waiting.type !== 'letter' || !waiting.isQuiet;
}
