import { type SessionState, type ThreadState, threadOf } from './state.ts';

/** The thread whose own worktree a thread works in: itself, or the nearest one above it. Null: the workspace of the session. */
export function worktreeOwnerOf(state: SessionState, threadId: string | null): ThreadState | null {
  for (let id = threadId; id !== null; ) {
    const thread = threadOf(state, id);
    if (thread.isolation !== null) return thread;
    id = thread.parentId;
  }
  return null;
}

/** The tree that was recorded last in the worktree of a thread; null: in the workspace of the session. */
export function recordedTreeOf(state: SessionState, owner: ThreadState | null): string | null {
  return owner === null ? (state.workspace?.tree ?? null) : (owner.isolation?.tree ?? null);
}
