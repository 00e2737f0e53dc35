import type { Moment, PointRange } from './find-point.ts';

/** A thread, whose own worktree is read if it has one. By default the workspace of the session is. */
export interface ThreadRequest {
  readonly threadId?: string | undefined;
}

/** A moment; the newest one by default. */
export interface AtRequest {
  readonly at?: Moment | undefined;
}

/** The diff of one file. */
export interface DiffRequest extends PointRange, ThreadRequest {
  readonly path: string;
  readonly contextLines?: number | undefined;
}

/** Which changes to apply, and to what. */
export interface ApplyRequest extends AtRequest {
  /** The name of the key of the caller. */
  readonly by: string;
  readonly title: string | null;
  readonly onto: { readonly type: 'working_tree' } | { readonly type: 'branch'; readonly branch: string };
  /** Files and directories; all by default. */
  readonly paths?: readonly string[] | undefined;
  readonly message?: string | undefined;
  readonly isDryRun: boolean;
}

/** Removes the workspace. */
export interface DiscardRequest {
  readonly by: string;
  readonly isDryRun: boolean;
}

/** Merges the changes of a thread. */
export interface MergeRequest {
  readonly threadId: string;
  readonly by: string;
  readonly isDryRun: boolean;
}

/** Sets the workspace back to a moment. */
export interface RestoreRequest {
  readonly by: string;
  readonly at: Moment;
  readonly isDryRun: boolean;
  /** Whether files that changed after the session wrote them are replaced. Otherwise they are a conflict. */
  readonly overwrites: boolean;
}
