import type { FileCounts } from '@fleetloom/protocol/fleet';

/** Frames about the recorded files of a session. Only sessions whose workspace has a source have them. */
export interface WorkspacePayloads {
  /** Recording of the workspace begins. Logged once, before the first model request. */
  'workspace.opened': {
    id: string;
    /** The initial files, as a tree in the snapshot store of the session. */
    tree: string;
    /** The commit of the user's repository, and the branch of the session. */
    base: { readonly commit: string; readonly branch: string | null } | null;
    source: 'directory' | 'repository';
  };
  /** The setup command of the workspace has ended. */
  'workspace.setup': {
    id: string;
    command: string;
    /** Null if the command was stopped. */
    code: number | null;
    /** The end of its output. */
    output: string;
    is_cut: boolean;
    duration_ms: number;
  };
  /** Files changed since the last `workspace.…` frame. Logged before the result of the call that changed them. */
  'workspace.changed': WorkspaceChanged;
  /** A thread gets its own worktree. */
  'workspace.isolated': {
    id: string;
    session_thread_id: string;
    /** The thread whose worktree this one was created from, and into which its changes are merged; null: the workspace of the session. */
    from_session_thread_id: string | null;
    /** The initial files: those of the parent thread's workspace at that moment. */
    tree: string;
    /** The branch in the git directory of the session; null if the workspace has no repository. */
    branch: string | null;
  };
  /** The changes of a thread are about to be written to the workspace of its parent thread. */
  'workspace.merge_started': WorkspaceMerge & {
    /** The tree of that workspace before and after the merge. */
    readonly from: string;
    readonly tree: string;
  };
  /** The merge is complete or abandoned. Follows the `workspace.changed` frame with the files. */
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
  /** The tree of the thread that is merged. */
  readonly merged: string;
  /** The `merge_changes` call; null if a person requested the merge. */
  readonly tool_use_id: string | null;
  /** The name of the key of that person. */
  readonly by?: string;
}

/** What changed in the workspace. */
export interface WorkspaceChanged {
  readonly id: string;
  /** The thread whose own worktree changed. Absent: the workspace of the session changed. */
  readonly workspace_thread_id?: string;
  /** For a thread's own worktree: all changes since it was created or last merged. */
  readonly unmerged?: UnmergedChanges;
  readonly tree: string;
  /** The tree before the change. Equal to `tree` if only files changed that are not recorded. */
  readonly parent: string;
  /**
   * `recovered`: found after a crash. The interrupted calls may have made the change, and so may the user. `outside`: in a
   * directory of the user, while no tool call ran: changed by the user, or by a process that outlived its call.
   */
  readonly cause: 'tool' | 'turn' | 'setup' | 'restore' | 'merge' | 'recovered' | 'outside';
  /** The call during which the change happened; null if no call ran, or several. */
  readonly tool_use_id: string | null;
  /** The calls that may have made the change, if several ran, or if the change was found after a crash. */
  readonly candidates?: readonly { readonly session_thread_id: string; readonly tool_use_id: string }[];
  /** The first of them, sorted by path. */
  readonly files: readonly ChangedFile[];
  /** The number of changed files. The line counts include all of them, too. */
  readonly files_count: number;
  readonly lines_added: number;
  readonly lines_removed: number;
  /** What differs between the opened workspace and `tree`. Logs of earlier versions do not have it. */
  readonly since_opened?: FileCounts;
  /** The first paths whose content is not recorded in the tree, and why. */
  readonly not_recorded?: readonly { readonly path: string; readonly reason: string }[];
  readonly not_recorded_count?: number;
  /** With `restore`: the name of the key of the caller. */
  readonly by?: string;
}

/** The changes in a thread's own worktree that were not merged yet. */
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
