import type { FileCounts } from '@fleetloom/protocol/fleet';

/** Frames about the recorded files of a session. Only sessions whose workspace has a source have them. */
export interface WorkspacePayloads {
  /** The workspace is recorded from here on. Once, before the first model request. */
  'workspace.opened': {
    id: string;
    /** The files that the agents find, as a tree of the session's snapshots. */
    tree: string;
    /** The commit of the user's repository, and the branch of the session. */
    base: { readonly commit: string; readonly branch: string | null } | null;
    source: 'directory' | 'repository';
  };
  /** The setup command of the workspace has ended. */
  'workspace.setup': {
    id: string;
    command: string;
    /** Null if it was stopped. */
    code: number | null;
    /** The end of what it wrote. */
    output: string;
    is_cut: boolean;
    duration_ms: number;
  };
  /** Files have changed since the last `workspace.…` frame. It stands before the result of the call that changed them. */
  'workspace.changed': WorkspaceChanged;
  /** A thread has a worktree of its own from here on. */
  'workspace.isolated': {
    id: string;
    session_thread_id: string;
    /** The thread whose worktree it was made from; null: from the workspace of the session. Its changes are merged there. */
    from_session_thread_id: string | null;
    /** The files that it begins with: those of the workspace of its parent thread at that moment. */
    tree: string;
    /** Its branch in the git directory of the session; null if the workspace has no repository. */
    branch: string | null;
  };
  /** The changes of a thread are about to be written to the workspace of its parent thread. */
  'workspace.merge_started': WorkspaceMerge & {
    /** The files of that workspace before, and afterwards. */
    readonly from: string;
    readonly tree: string;
  };
  /** They are written, or are not going to be. It follows the `workspace.changed` that has the files. */
  'workspace.merge_ended': WorkspaceMerge & { readonly is_merged: boolean };
  /** Changes were written to the user's working tree or to a branch. */
  'workspace.applied': {
    id: string;
    /** The name of the key of the caller. */
    by: string;
    onto: 'working_tree' | 'branch';
    paths_count: number;
    branch?: string;
    commit?: string;
  };
  /** The node with the workspace and its recorded files is gone. */
  'workspace.lost': { id: string };
  /** The workspace and its branch were removed. */
  'workspace.discarded': { id: string; by: string };
}

/** Changes of a thread with a worktree of its own that are merged into the workspace of its parent thread. */
export interface WorkspaceMerge {
  readonly id: string;
  /** The thread whose changes they are. */
  readonly session_thread_id: string;
  /** Its files, as they are merged. */
  readonly merged: string;
  /** The call of `merge_changes`; null if a person asked for it. */
  readonly tool_use_id: string | null;
  /** The name of the key of that person. */
  readonly by?: string;
}

/** What changed in the workspace. */
export interface WorkspaceChanged {
  readonly id: string;
  /** The thread whose own worktree it is. Absent: it is the workspace of the session. */
  readonly workspace_thread_id?: string;
  /** Of a worktree of a thread: all changes since it began, or was merged last. */
  readonly unmerged?: UnmergedChanges;
  readonly tree: string;
  /** The tree before. The same as `tree` if only files that are not recorded have changed. */
  readonly parent: string;
  /**
   * `recovered`: found after a crash. The interrupted calls may have made the change, and so may the user. `outside`: in a
   * directory of the user, while no tool call ran; made by the user, or by a process that outlived its call.
   */
  readonly cause: 'tool' | 'turn' | 'setup' | 'restore' | 'merge' | 'recovered' | 'outside';
  /** The only call in whose interval the change falls; null if there is none, or more than one. */
  readonly tool_use_id: string | null;
  /** The calls that may have made the change, if there are several, or if it was found after a crash. */
  readonly candidates?: readonly { readonly session_thread_id: string; readonly tool_use_id: string }[];
  /** The first of them, sorted by path. */
  readonly files: readonly ChangedFile[];
  /** All of them, as the lines are those of all files. */
  readonly files_count: number;
  readonly lines_added: number;
  readonly lines_removed: number;
  /** What differs between the opened workspace and `tree`. Logs of earlier versions do not have it. */
  readonly since_opened?: FileCounts;
  /** The first paths whose content is not in the tree, and why. */
  readonly not_recorded?: readonly { readonly path: string; readonly reason: string }[];
  readonly not_recorded_count?: number;
  /** With `restore`: the name of the key of the caller. */
  readonly by?: string;
}

/** What a thread has changed in its own worktree and was not merged yet. */
export interface UnmergedChanges {
  /** The first of them, sorted by path. */
  readonly files: readonly ChangedFile[];
  readonly files_count: number;
  readonly lines_added: number;
  readonly lines_removed: number;
}

/** A file that differs between two trees. */
export interface ChangedFile {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  /** Lines; null for a file that is not text. */
  readonly added: number | null;
  readonly removed: number | null;
}
