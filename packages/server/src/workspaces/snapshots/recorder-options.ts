import type { Git } from '../git/run-git.ts';
import type { SetupResult, WorkspaceSource } from '../workspace-source.ts';
import type { SnapshotRepository, SnapshotRepositoryOptions } from './objects/snapshot-repository.ts';

/** Why files are recorded. */
export type RecordCause =
  | { readonly type: 'tool'; readonly threadId: string; readonly toolUseId: string }
  /** A record after a crash. `toolUseId`: a call that the crash interrupted. */
  | { readonly type: 'recovered'; readonly threadId: string; readonly toolUseId: string | null }
  /** A record before a tool call that may write these files, or any file (null). */
  | { readonly type: 'outside'; readonly threadId: null; readonly paths: readonly string[] | null }
  | {
      readonly type: 'turn' | 'setup' | 'restore' | 'merge';
      readonly threadId: string | null;
      /** Files that are recorded even if they are ignored. */
      readonly paths?: readonly string[];
      /** With `turn`: an agent program ran the turn, which may write files between its tool calls too. */
      readonly isByProgram?: true;
    };

/** The dependencies of a recorder. */
export interface RecorderOptions {
  readonly git: Git;
  /** The tree of the last frame; null if there is none. */
  readonly tree: string | null;
  /** The tree of the frame `workspace.opened`; by default `tree`. */
  readonly opened?: string | null | undefined;
  /** Creates the workspace. Returns undefined if the session has no source. */
  readonly prepare: () => Promise<{ readonly source: WorkspaceSource; readonly setup: SetupResult | null } | undefined>;
  /** The prefix of the names of index files; by default the prefix of the session. Threads with worktrees of their own have others. */
  readonly indexName?: string | undefined;
  /** Stores the files of clones for other nodes, at the end of each turn. */
  readonly backUp?: ((repository: SnapshotRepository, tree: string) => Promise<void>) | undefined;
  readonly create: (options: SnapshotRepositoryOptions) => Promise<SnapshotRepository>;
}
