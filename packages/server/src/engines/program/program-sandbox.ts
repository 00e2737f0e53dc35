/** Starts programs so that they reach only the files and the network that a request lists. */
export interface ProgramSandbox {
  launch(request: SandboxRequest): SandboxLaunch;
}

/** A program and everything that it may reach. */
export interface SandboxRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly workspace: string;
  readonly isWorkspaceWritable: boolean;
  readonly readOnlyPaths: readonly (string | { readonly path: string; readonly at: string })[];
  readonly writablePaths: readonly string[];
  readonly writableFiles: readonly { readonly path: string; readonly at: string }[];
  readonly covers: SandboxMounts['covers'];
  readonly environment: Readonly<Record<string, string>>;
}

/** The mounts of a session's sandbox beside its workspace. */
export interface SandboxMounts {
  readonly isWritable: boolean;
  readonly readOnlyPaths: readonly (string | { readonly path: string; readonly at: string })[];
  readonly writablePaths: readonly string[];
  /** Files and directories that cover paths of the workspace. */
  readonly covers: readonly { readonly path: string; readonly inside: string; readonly isWritable: boolean }[];
  /** The connection of git in the sandbox to the repositories of the session, if it has any. */
  readonly gitRelay?: GitRelay | undefined;
  /** Certificates and placeholders for connections that the server opens for the program, if it opens any. */
  readonly egress?: { readonly trust: ProgramTrust } | undefined;
  /** The packages of the session's environment, if any are installed. */
  readonly packages?: (ProgramTrust & { readonly searchPath: readonly string[] }) | undefined;
}

/** Certificates that a program must trust, and placeholders of secrets. */
export interface ProgramTrust {
  readonly readOnlyPaths: readonly { readonly path: string; readonly at: string }[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A service of the server that a program in a sandbox reaches on a port of loopback. */
export interface ProgramRelay {
  /** The service's socket, as the sandbox shows it. */
  readonly socketPath: string;
  readonly port: number;
}

/** The git proxy of a session. */
export interface GitRelay extends ProgramRelay {
  /** The socket and git's configuration. */
  readonly readOnlyPaths: readonly { readonly path: string; readonly at: string }[];
}

/** The process to start. */
export interface SandboxLaunch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The data that the process reads from its descriptors, from the fifth on. */
  readonly data: readonly (string | Uint8Array)[];
}
