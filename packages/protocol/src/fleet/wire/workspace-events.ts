import type { FleetEventBase } from './event-base.ts';
import type { WorkspaceFile } from './files.ts';

/** Files of the workspace have changed. Only sessions that work on a directory or a repository emit it, also between two runs. */
export interface WorkspaceChanged extends FleetEventBase {
  readonly type: 'workspace_changed';
  /** The thread that changed the files, or that was first to end a tool call; null outside of threads. */
  readonly thread_id: string | null;
  /** The `stream_id` of that thread's turn; null if no turn was open. */
  readonly turn: number | null;
  readonly stream_id?: never;
  /** The tool call that changed the files; null if that is not known for certain. */
  readonly tool_use_id: string | null;
  /** The first 20 files, sorted by path. */
  readonly files: readonly WorkspaceFile[];
  /** The number of all changed files; the line counts include all files. */
  readonly files_count: number;
  readonly lines_added: number;
  readonly lines_removed: number;
  /** The files after the change, as a tree of the session's snapshots. */
  readonly tree: string;
  /** The thread in whose own worktree the files are. Absent: they are in the workspace of the session. */
  readonly workspace_thread_id?: string;
}

/** Changes of a session were written to the user's files or committed to a branch. It can come between two runs, and after the end. */
export interface WorkspaceApplied extends FleetEventBase {
  readonly type: 'workspace_applied';
  /** The name of the key of the caller. */
  readonly by: string;
  /** `working_tree` or `branch`. */
  readonly onto: string;
  /** How many files were written. */
  readonly paths_count: number;
  /** The branch; null for the working tree. */
  readonly branch: string | null;
  readonly commit: string | null;
}

/** The workspace of a session and its branch were removed. Its recorded files can still be read. */
export interface WorkspaceDiscarded extends FleetEventBase {
  readonly type: 'workspace_discarded';
  /** The name of the key of the caller. */
  readonly by: string;
}
