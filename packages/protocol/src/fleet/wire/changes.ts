import type { FileCounts, WorkspaceFile } from './files.ts';

/** A moment of a recorded workspace: the last recorded state at or before the cursor that was asked for. */
export interface WorkspacePoint {
  /** The position of its frame, which can be sent as `from`, `to` or `at`. */
  readonly cursor: string;
  /** A tree of the session's snapshots. */
  readonly tree: string;
  readonly time: string;
}

/** `GET /v1/sessions/{id}/changes`: what agents changed in the workspace of a session. */
export interface WorkspaceChanges extends FileCounts {
  readonly type: 'workspace_changes';
  readonly session_id: string;
  /** `not_opened`: no turn has begun. `discarded`: the workspace was removed; its recorded files can still be read. */
  readonly state: 'open' | 'not_opened' | 'discarded';
  readonly source: ChangesSource;
  /** The directory that the agents work in, on the machine of the server; null while there is none. */
  readonly workspace: string | null;
  /** The beginning of the range; null if the workspace was not opened yet. */
  readonly from: WorkspacePoint | null;
  readonly to: WorkspacePoint | null;
  /** One page of the changed files, sorted by path. The counts include all files. */
  readonly files: readonly TouchedFile[];
  /** The value of `after` for the next page; null at the end. */
  readonly next_after: string | null;
  /** The threads that changed files in the range. */
  readonly threads: readonly {
    readonly session_thread_id: string;
    readonly agent_name: string | null;
    readonly files_count: number;
  }[];
  readonly not_recorded: readonly NotRecordedFile[];
  readonly not_recorded_count: number;
  readonly applied: readonly AppliedChanges[];
  /** The targets that `POST …/changes/apply` accepts. */
  readonly can_apply: { readonly working_tree: boolean; readonly branch: boolean };
  /** Threads with worktrees of their own, if there are any. `?thread=` shows the changes of each. */
  readonly worktrees?: readonly ThreadWorktree[];
}

/** The worktree of a thread, with the numbers of what was not merged into the workspace yet. */
export interface ThreadWorktree extends FileCounts {
  readonly session_thread_id: string;
  readonly agent_name: string | null;
  /** The branch of the worktree in the git directory of the session; null without a repository. */
  readonly branch: string | null;
  /** When its changes were last merged; null if never. */
  readonly merged_at: string | null;
}

/** Where the files of a session come from. */
export type ChangesSource =
  | {
      readonly type: 'directory';
      readonly mode: 'worktree' | 'copy' | 'in_place' | 'read_only';
      readonly path: string;
      /** The branch of the session's worktree. */
      readonly branch: string | null;
      /** The commit that the session began with. */
      readonly base: string | null;
    }
  | { readonly type: 'repositories' };

/** A changed file, and the recorded changes that touched it. */
export interface TouchedFile extends WorkspaceFile {
  /** The first recorded changes that touched the file, the oldest first. */
  readonly touched_by: readonly FileTouch[];
  readonly touched_by_count: number;
}

/** A recorded change of a file. */
export interface FileTouch {
  readonly cursor: string;
  readonly time: string;
  /** The thread; null outside of threads. */
  readonly session_thread_id: string | null;
  /** The turn, if one was open. */
  readonly stream_id: number | null;
  /** The tool call, if it is certain which one it was. */
  readonly tool_use_id: string | null;
  /** `tool`, `turn`, `setup`, `restore`, `merge`, or `recovered`: found after a crash, so that the calls are not certain. */
  readonly cause: string;
  /** The calls that may have made the change, if there are several. */
  readonly candidates: readonly { readonly session_thread_id: string; readonly tool_use_id: string }[];
}

/** A file whose content is not in the snapshots. */
export interface NotRecordedFile {
  readonly path: string;
  readonly reason: string;
}

/** Changes that were applied earlier. */
export interface AppliedChanges {
  readonly cursor: string;
  readonly time: string;
  /** The name of the key of the caller. */
  readonly by: string;
  readonly onto: 'working_tree' | 'branch';
  readonly paths_count: number;
  readonly branch: string | null;
  readonly commit: string | null;
}

/** `GET /v1/sessions/{id}/changes/steps`: the recorded changes of the workspace of a session, step by step. */
export interface WorkspaceSteps {
  readonly type: 'workspace_steps';
  readonly session_id: string;
  /** The steps, the oldest first. */
  readonly steps: readonly WorkspaceStep[];
  /** The value of `after` for the next page; null at the end. */
  readonly next_after: string | null;
}

/** A recorded step: the workspace was opened, files changed, or the user applied or discarded the changes. */
export interface WorkspaceStep extends FileCounts {
  readonly type: 'opened' | 'changed' | 'applied' | 'discarded';
  /** The position of the step, which can be sent as `from`, `to` or `at`. */
  readonly cursor: string;
  readonly time: string;
  /** The thread; null outside of threads. */
  readonly session_thread_id: string | null;
  readonly agent_name: string | null;
  /** The cause of a change: `tool`, `turn`, `setup`, `restore`, `merge`, or `recovered`: found after a crash, so that the calls are not certain. */
  readonly cause: string | null;
  /** The tool call that made the change; several if it is not certain which one did. */
  readonly calls: readonly {
    readonly session_thread_id: string;
    readonly tool_use_id: string;
    /** The name of the tool; null if it is not known. */
    readonly tool: string | null;
  }[];
  /** The name of the key, if a user made the change. */
  readonly by: string | null;
  /** The first files, sorted by path. */
  readonly files: readonly WorkspaceFile[];
}

/** `GET /v1/sessions/{id}/changes/diff`: the diff of one file. */
export interface WorkspaceDiff {
  readonly type: 'workspace_diff';
  readonly session_id: string;
  readonly from: WorkspacePoint;
  readonly to: WorkspacePoint;
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'unchanged';
  readonly added: number | null;
  readonly removed: number | null;
  readonly before: FileFacts | null;
  readonly after: FileFacts | null;
  readonly is_binary: boolean;
  /** The diff in the format of `git diff`; null if it was omitted. */
  readonly diff: string | null;
  readonly omitted: 'binary' | 'too_large' | null;
}

/** `GET /v1/sessions/{id}/changes/diffs`: the diffs of all changed files. */
export interface WorkspaceDiffs {
  readonly type: 'workspace_diffs';
  readonly session_id: string;
  /** The diffs, sorted by path. */
  readonly diffs: readonly WorkspaceDiff[];
  /** The value of `after` for the next page; null at the end. */
  readonly next_after: string | null;
}

/** The git mode of a file, such as `100644`, and its size. */
export interface FileFacts {
  readonly mode: string;
  /** The size of the file; null for a submodule. */
  readonly bytes: number | null;
}

/** `GET /v1/sessions/{id}/tree`: the recorded files at a moment. */
export interface WorkspaceTree {
  readonly type: 'workspace_tree';
  readonly session_id: string;
  readonly at: WorkspacePoint;
  readonly entries: readonly {
    readonly path: string;
    readonly type: 'file' | 'executable' | 'symlink' | 'submodule';
    readonly bytes: number | null;
  }[];
  /** The value of `after` for the next page; null at the end. */
  readonly next_after: string | null;
}

/** `POST /v1/sessions/{id}/changes/apply`: the written files, or with `dry_run` the files that would be written. */
export interface ChangesApplied extends FileCounts {
  readonly type: 'changes_applied';
  readonly session_id: string;
  readonly onto: 'working_tree' | 'branch';
  readonly dry_run: boolean;
  readonly at: WorkspacePoint;
  /** The user's directory or repository. */
  readonly directory: string;
  readonly branch: string | null;
  /** The new commit; null with `dry_run`, and if the branch already has the changes. */
  readonly commit: string | null;
  readonly files: readonly WorkspaceFile[];
}

/** `POST /v1/sessions/{id}/changes/discard`: the discarded changes, or with `dry_run` the changes that would be discarded. */
export interface ChangesDiscarded extends FileCounts {
  readonly type: 'changes_discarded';
  readonly session_id: string;
  readonly dry_run: boolean;
  /** The workspace of the session; null if it was removed before. */
  readonly directory: string | null;
  readonly branch: string | null;
  readonly files: readonly WorkspaceFile[];
  readonly not_recorded: readonly NotRecordedFile[];
  readonly not_recorded_count: number;
  /** Threads whose own worktrees have changes that were not merged, if there are any. */
  readonly worktrees?: readonly ThreadWorktree[];
}

/** `POST /v1/sessions/{id}/changes/merge`: the changes that were merged into the workspace, or with `dry_run` would be merged. */
export interface ChangesMerged extends FileCounts {
  readonly type: 'changes_merged';
  readonly session_id: string;
  readonly session_thread_id: string;
  readonly dry_run: boolean;
  /** The cursor of the frame that ends the merge; null with `dry_run`, and if there was nothing to merge. */
  readonly cursor: string | null;
  readonly files: readonly WorkspaceFile[];
}

/** `POST /v1/sessions/{id}/changes/restore`: the files that changed in the workspace, or with `dry_run` would change. */
export interface ChangesRestored extends FileCounts {
  readonly type: 'changes_restored';
  readonly session_id: string;
  readonly dry_run: boolean;
  readonly at: WorkspacePoint;
  /** The recorded state before the restore. A restore to its cursor undoes this one. */
  readonly before: WorkspacePoint;
  /** The cursor of the new frame; null if no file differed. */
  readonly cursor: string | null;
  readonly files: readonly WorkspaceFile[];
  /** Restored files that had changed on disk after the session wrote them, replaced because of `overwrite`. */
  readonly overwritten: readonly string[];
  readonly overwritten_count: number;
}
