import type { WorkspaceFrame } from './history.ts';

/** The frames of one workspace of a session. */
export interface WorkspaceHistory {
  readonly frames: readonly WorkspaceFrame[];
  /** The thread that owns this worktree; null for the workspace of the session. */
  readonly owner: string | null;
}

/** The workspace in which a thread works: its own worktree if it has one, else the workspace of the session. */
export function selectWorkspace(frames: readonly WorkspaceFrame[], threadId?: string): WorkspaceHistory {
  const isOwner = (frame: WorkspaceFrame) =>
    frame.type === 'workspace.isolated' && frame.payload.session_thread_id === threadId;
  const owner = threadId !== undefined && frames.some(isOwner) ? threadId : null;
  return { frames: frames.filter((frame) => isOf(frame, owner)), owner };
}

function isOf(frame: WorkspaceFrame, owner: string | null): boolean {
  switch (frame.type) {
    case 'workspace.isolated':
      return frame.payload.session_thread_id === owner;
    case 'workspace.changed':
      return (frame.payload.workspace_thread_id ?? null) === owner;
    case 'workspace.discarded':
    case 'workspace.lost':
      return true;
    case 'workspace.merge_started':
    case 'workspace.merge_ended':
      return false;
    default:
      return owner === null;
  }
}
