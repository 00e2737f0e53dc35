import type { PageParams } from './page.ts';

/** A resource that is mounted into the workspace of a session. */
export type SessionResource = FileResource | GithubRepositoryResource | MemoryStoreResource;

/** A file in the workspace. */
export interface FileResource {
  readonly type: 'file';
  readonly id: string;
  readonly file_id: string;
  readonly mount_path: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A repository that is cloned into the workspace. */
export interface GithubRepositoryResource {
  readonly type: 'github_repository';
  readonly id: string;
  readonly url: string;
  readonly mount_path: string;
  readonly checkout?: Checkout | null;
  /** A command that ran in the sandbox after the clone; absent if there is none. Not in the hosted API. */
  readonly setup?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A repository of any git host that is cloned into the workspace. Not in the hosted API. */
export interface GitRepositoryResource {
  readonly type: 'git_repository';
  readonly id: string;
  readonly url: string;
  readonly mount_path: string;
  readonly checkout: Checkout | null;
  readonly credential_id: string | null;
  /** A command that ran in the sandbox after the clone; absent if there is none. */
  readonly setup?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A directory on the machine of the server that the agents work on. Not in the hosted API. */
export interface DirectoryResource {
  readonly type: 'directory';
  readonly id: string;
  /** The real path of the directory. */
  readonly path: string;
  readonly mode: DirectoryMode;
  readonly mount_path: '/workspace';
  /** The requested commit-ish; null: `HEAD`, or not a git repository. */
  readonly base: string | null;
  /** The commit to which `base` resolved when the session was created. */
  readonly commit: string | null;
  /** The branch of the session's worktree; null in other modes. */
  readonly branch: string | null;
  readonly include_uncommitted: boolean;
  readonly copy: readonly string[];
  readonly setup: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** How agents work on a directory: in a git worktree, in a copy, in the directory itself, or without writing. */
export type DirectoryMode = 'worktree' | 'copy' | 'in_place' | 'read_only';

/** The source of the workspace of a session. */
export type SourceResource = GithubRepositoryResource | GitRepositoryResource | DirectoryResource;

/** Everything that Fleetloom lists as a resource of a session. */
export type MountedResource = FileResource | SourceResource;

/** A memory store; not supported. */
export interface MemoryStoreResource {
  readonly type: 'memory_store';
  readonly memory_store_id: string;
  readonly access?: 'read_write' | 'read_only' | null;
  readonly description?: string;
  readonly instructions?: string | null;
  readonly mount_path?: string | null;
  readonly name?: string | null;
}

/** The branch or commit to check out. */
export type Checkout =
  | { readonly type: 'branch'; readonly name: string }
  | { readonly type: 'commit'; readonly sha: string };

/** A resource as a client sends it. */
export type SessionResourceParams = FileResourceParams | GithubRepositoryResourceParams | MemoryStoreResourceParams;

/** A file as a client sends it. Also the body of `POST /v1/sessions/{id}/resources`. */
export interface FileResourceParams {
  readonly type: 'file';
  readonly file_id: string;
  readonly mount_path?: string | null;
}

/** A repository as a client sends it. */
export interface GithubRepositoryResourceParams {
  readonly type: 'github_repository';
  readonly url: string;
  /** A token of the git host, which is never returned. */
  readonly authorization_token?: string;
  readonly checkout?: Checkout | null;
  readonly mount_path?: string | null;
  /** A command that runs once in the sandbox, in the clone, before the agents begin. Not in the hosted API. */
  readonly setup?: string | null;
}

/** A repository of any git host as a client sends it. */
export interface GitRepositoryResourceParams {
  readonly type: 'git_repository';
  /** The URL of the repository: `https`, `ssh` or `file`. */
  readonly url: string;
  readonly checkout?: Checkout | null;
  readonly mount_path?: string | null;
  /** The id of a credential of a vault. */
  readonly credential_id?: string | null;
  /** A command that runs once in the sandbox, in the clone, before the agents begin. */
  readonly setup?: string | null;
}

/** A directory on the machine of the server as a client sends it. It must be below a directory that the operator allows. */
export interface DirectoryResourceParams {
  readonly type: 'directory';
  readonly path: string;
  /** Default: `worktree` in a git repository, `copy` elsewhere. */
  readonly mode?: DirectoryMode | null;
  /** The commit-ish that a worktree begins with. Default: `HEAD`. */
  readonly base?: string | null;
  /** Carries uncommitted changes over to a worktree: tracked and untracked files, but not ignored ones. */
  readonly include_uncommitted?: boolean;
  /** Patterns of untracked files to copy to a worktree, such as `.env`, in addition to the patterns of `.worktreeinclude`. */
  readonly copy?: readonly string[];
  /** A command that runs once in the sandbox before the agents begin. */
  readonly setup?: string | null;
}

/** A source of the workspace as a client sends it. */
export type SourceResourceParams =
  | GithubRepositoryResourceParams
  | GitRepositoryResourceParams
  | DirectoryResourceParams;

/** A memory store as a client sends it. */
export interface MemoryStoreResourceParams {
  readonly type: 'memory_store';
  readonly memory_store_id: string;
  readonly access?: 'read_write' | 'read_only' | null;
  readonly instructions?: string | null;
}

/** `POST /v1/sessions/{id}/resources/{resource}` */
export interface SessionResourceUpdateParams {
  readonly authorization_token: string;
}

/** `GET /v1/sessions/{id}/resources`. Without a limit all are listed. */
export type SessionResourceListParams = PageParams;

/** The response to a deletion. */
export interface DeletedSessionResource {
  readonly type: 'session_resource_deleted';
  readonly id: string;
}
