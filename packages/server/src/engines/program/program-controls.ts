/** The control requests to a running program, outside of its turns. Each program and version supports some of them. */
export const programControls = ['usage', 'diff', 'rewind'] as const;
/** One of the control requests. */
export type ProgramControl = (typeof programControls)[number];

/** A request to a running program outside of its turns. */
export type ControlRequest =
  | { readonly type: 'usage' }
  | { readonly type: 'diff' }
  /** Restores the files to their state before the message that `say` received with this id. A dry run changes nothing. */
  | { readonly type: 'rewind'; readonly messageId: string; readonly isDryRun: boolean };

/** The response to a control request. */
export type ControlAnswer =
  | ProgramUsage
  | ProgramDiff
  | ProgramRewind
  /** This version of the program does not know the request. */
  | { readonly type: 'unsupported' }
  /** The program rejected the request with this message, or did not answer in time. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'exited' };

/** The usage that the program itself counts for the conversation. A restart of the program may reset the count. */
export interface ProgramUsage {
  readonly type: 'usage';
  readonly costUsd: number | null;
  readonly linesAdded: number | null;
  readonly linesRemoved: number | null;
  readonly models: readonly ModelUsage[];
  /** Limits of the plan that the program is logged in with, if the program reports them. */
  readonly planLimits: readonly {
    readonly name: string;
    readonly usedPercent: number;
    readonly resetsAt: string | null;
  }[];
}

/** The usage of one model in a conversation. */
export interface ModelUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number | null;
}

/** The differences between the workspace and its version control. */
export interface ProgramDiff {
  readonly type: 'diff';
  readonly files: readonly FileDiff[];
  /** Number of files that differ and are not listed. */
  readonly filesOmitted: number;
  /** Why there is no diff, in the program's words; null if there is one. */
  readonly reason: string | null;
}

/** The differences of one file. */
export interface FileDiff {
  readonly path: string;
  readonly status: string;
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
  /** Hunks of a unified diff; null if the program reports none (untracked, binary or large files) or the limit was reached. */
  readonly patch: string | null;
}

/** The files that a rewind changes. */
export interface ProgramRewind {
  readonly type: 'rewind';
  readonly isDryRun: boolean;
  /** The paths of the files, as the program reports them. */
  readonly files: readonly string[];
  /** Number of lines that the rewind adds and removes. */
  readonly added: number;
  readonly removed: number;
}
