import type { ReadOnlyPath, WorkspaceCover } from '../tools/sandbox/sandbox.ts';

/** The source of the files of a session. */
export type WorkspaceSource = DirectorySource | RepositoriesSource;

/** How a session works on a directory of this machine. */
export type DirectoryMode = 'worktree' | 'copy' | 'in_place' | 'read_only';

/** A directory of this machine. */
export interface DirectorySource {
  readonly type: 'directory';
  readonly mode: DirectoryMode;
  /** The real path of the user's directory. */
  readonly path: string;
  /** The directory that the agents work in. The same as `path` with `in_place` and `read_only`. */
  readonly workspace: string;
  /** The git repository that `path` is in, if the server may read it. */
  readonly repository: SourceRepository | null;
  /** The git directories below `path` when agents began to work there. Only with `in_place` and `read_only`. */
  readonly nestedGit?: readonly NestedGit[] | undefined;
}

/** A git directory of the user, or a file that names one, below a directory in which agents work. */
export interface NestedGit {
  /** The path relative to that directory. */
  readonly inside: string;
  readonly type: 'directory' | 'file';
}

/** The user's git repository. */
export interface SourceRepository {
  /** The real path of the working tree that the source is in. */
  readonly top: string;
  /** The git directory of that working tree; for a linked worktree, its directory below `worktrees/`. */
  readonly gitDirectory: string;
  /** The git directory that all its worktrees share. */
  readonly commonDirectory: string;
  /** The object directories, first the repository's own, then its alternates. */
  readonly objects: readonly string[];
  readonly objectFormat: 'sha1' | 'sha256';
  /** The commit that the session began with; null in a repository without commits. */
  readonly base: string | null;
  /** The session's branch, as `fleetloom/<id>`. Null unless the mode is `worktree`. */
  readonly branch: string | null;
}

/** Repositories that are cloned into an empty workspace. */
export interface RepositoriesSource {
  readonly type: 'repositories';
  readonly workspace: string;
  readonly repositories: readonly { readonly mountPath: string; readonly url: string }[];
}

/** The mounts of the sandbox of a session in addition to the workspace. */
export interface WorkspaceMounts {
  /** Whether agents may write in the workspace. */
  readonly isWritable: boolean;
  /** Directories that agents may read: the objects of the user's repository. */
  readonly readOnlyPaths: readonly (string | ReadOnlyPath)[];
  /** Directories that agents may write, at their own paths: the session's private git directory. */
  readonly writablePaths: readonly string[];
  /** Files and directories that cover entries of the workspace, such as its `.git`. */
  readonly covers: readonly WorkspaceCover[];
}

/** The mounts of a session without a source. */
export const PLAIN_MOUNTS: WorkspaceMounts = { isWritable: true, readOnlyPaths: [], writablePaths: [], covers: [] };

/** The result of a setup command. */
export interface SetupResult {
  readonly command: string;
  /** The exit code; null if the command was stopped, for example because it took too long. */
  readonly code: number | null;
  /** The end of the output on stdout and stderr. */
  readonly output: string;
  /** Whether the beginning of the output was dropped. */
  readonly isCut: boolean;
  readonly durationMs: number;
}
