import { advance } from './advance.ts';
import type { Draft } from './draft.ts';
import { showStatuses } from './show-statuses.ts';
import { startTurn } from './start-turn.ts';
import { primaryOf, type ThreadState, type Waiting } from './state.ts';

/**
 * Brings a session to rest: every turn goes as far as it can, threads that were spoken to begin, and the statuses say
 * what came of it. Whatever happened before, this is what follows.
 */
export function settle(draft: Draft, fresh: readonly Waiting[] = []): void {
  receive(draft, fresh);
  let written: number;
  do {
    written = draft.frames.length;
    // Threads that are opened on the way are part of it: a Map hands them out too.
    for (const thread of draft.state.threads.values()) advance(draft, thread);
    startWaiting(draft);
    // One thread's end may be another's answer, so it goes on until nothing follows any more.
  } while (draft.frames.length > written);
  showStatuses(draft);
}

/** What users say goes to the primary thread: into a new turn, or to its inbox while it is at work. */
function receive(draft: Draft, fresh: readonly Waiting[]): void {
  const primary = primaryOf(draft.state);
  if (fresh.length === 0) return;
  if (primary.turn === null) return startTurn(draft, primary, { parentStreamId: null, childIndex: null, fresh });
  for (const waiting of fresh) keep(draft, primary, waiting);
}

function keep(draft: Draft, primary: ThreadState, waiting: Waiting): void {
  const { id } = waiting;
  if (waiting.type === 'user.message') {
    draft.add(primary, 'user.message', { id, content: waiting.content, is_processed: false });
  } else if (waiting.type === 'system.message') {
    draft.add(primary, 'system.message', { id, content: waiting.content, is_processed: false });
  }
}

/** Threads that rest and have been written to begin a turn. */
function startWaiting(draft: Draft): void {
  for (const thread of draft.state.threads.values()) {
    if (thread.turn !== null || thread.status === 'terminated' || !thread.inbox.some(isWaking)) continue;
    // Who called it, did so in a run that is over: a new one begins with what somebody said to it.
    const parentStreamId = draft.state.run === null ? null : thread.calledBy;
    startTurn(draft, thread, { parentStreamId, childIndex: null, fresh: [] });
  }
}

function isWaking(waiting: Waiting): boolean {
  return waiting.type !== 'letter' || !waiting.isQuiet;
}
