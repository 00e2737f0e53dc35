import type { Moment, PointRange } from './find-point.ts';

/** The thread whose worktree is read, if it has one. By default the workspace of the session is read. */
export interface ThreadRequest {
  readonly threadId?: string | undefined;
}

/** The recorded state to read; by default the newest one. */
export interface AtRequest {
  readonly at?: Moment | undefined;
}

/** A request for the diff of one file. */
export interface DiffRequest extends PointRange, ThreadRequest {
  readonly path: string;
  readonly contextLines?: number | undefined;
}

/** A request to apply changes: which ones, and to what target. */
export interface ApplyRequest extends AtRequest {
  /** The name of the caller's key. */
  readonly by: string;
  readonly title: string | null;
  readonly onto: { readonly type: 'working_tree' } | { readonly type: 'branch'; readonly branch: string };
  /** The files and directories to apply; by default all. */
  readonly paths?: readonly string[] | undefined;
  readonly message?: string | undefined;
  readonly isDryRun: boolean;
}

/** A request to remove the workspace. */
export interface DiscardRequest {
  readonly by: string;
  readonly isDryRun: boolean;
}

/** A request to merge the changes of a thread. */
export interface MergeRequest {
  readonly threadId: string;
  readonly by: string;
  readonly isDryRun: boolean;
}

/** A request to set the workspace back to a recorded state. */
export interface RestoreRequest {
  readonly by: string;
  readonly at: Moment;
  readonly isDryRun: boolean;
  /** Whether files that have changed since the session wrote them are replaced. Otherwise they are conflicts. */
  readonly overwrites: boolean;
}
