/** Where programs of agents run, so that they reach the workspace and nothing else of the machine. */
export interface Sandbox {
  /** How to start a program in it. */
  launch(request: LaunchRequest): Launch;
}

export interface LaunchRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly workspace: string;
  readonly isWorkspaceWritable: boolean;
}

/** What to hand to `spawn`. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Texts that the program reads from its file descriptors, from {@link DATA_FD} on. */
  readonly data: readonly string[];
}

/** 0 to 2 are the usual ones, 3 is for commands. */
export const DATA_FD = 4;

export type SandboxState =
  | { readonly type: 'ready'; readonly sandbox: Sandbox }
  | { readonly type: 'unavailable'; readonly reason: string };
