import type { SandboxLimits } from './sandbox-limits.ts';

/** Runs programs of agents so that they can access the workspace and nothing else of the machine. */
export interface Sandbox {
  /** Prepares the start of a program. It must be started within 10 s, before its cgroup is removed. */
  launch(request: LaunchRequest): Launch;
}

/** A program, and the files that it may read and write. */
export interface LaunchRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly workspace: string;
  readonly isWorkspaceWritable: boolean;
  /** Files and directories that the program may read beside the system's. They must exist. */
  readonly readOnlyPaths?: readonly (string | ReadOnlyPath)[] | undefined;
  /** Directories that the program may write beside the workspace, such as its own configuration. They must exist. */
  readonly writablePaths?: readonly string[] | undefined;
  /** Files that the program may write and finds at another path, in one of the writable directories. They must exist. */
  readonly writableFiles?: readonly { readonly path: string; readonly at: string }[] | undefined;
  /** Files and directories that the program finds in the workspace instead of what is there. Both must exist and be of the same kind. */
  readonly covers?: readonly WorkspaceCover[] | undefined;
  /** Added to the variables of the sandbox. Never from an agent: they also reach the programs that set it up. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** All of the network, this machine's own services included, or none of it. Default: what the sandbox was opened with. */
  readonly allowsNetwork?: boolean | undefined;
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<SandboxLimits> | undefined;
}

/** A file or directory of the machine that covers an entry of the workspace, by each of its names. */
export interface WorkspaceCover {
  readonly path: string;
  /** The path in the workspace. */
  readonly inside: string;
  readonly isWritable: boolean;
}

/** A file or directory of the machine, and its path in the sandbox. */
export interface ReadOnlyPath {
  readonly path: string;
  readonly at: string;
}

/** The arguments for `spawn`. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Texts or bytes that the program reads from its file descriptors, from {@link DATA_FD} on. */
  readonly data: readonly (string | Uint8Array)[];
}

/** The first descriptor for data. 0 to 2 are the standard streams, 3 is for commands. */
export const DATA_FD = 4;

/** The sandbox and its gaps on this machine, or the reason why there is none. */
export type SandboxState =
  | { readonly type: 'ready'; readonly sandbox: Sandbox; readonly gaps: readonly SandboxGap[] }
  | { readonly type: 'unavailable'; readonly reason: string };

/** A protection that is missing on this machine. */
export interface SandboxGap {
  /** What is not protected, and why. */
  readonly text: string;
  /** What the operator can do about it. */
  readonly fix: string;
}
