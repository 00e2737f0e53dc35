/** What a running program can be asked for outside of its turns. Which of these it answers depends on the program and its version. */
export const programControls = ['usage', 'diff', 'rewind'] as const;
/** One of the control requests. */
export type ProgramControl = (typeof programControls)[number];

/** A request to a running program outside of its turns. */
export type ControlRequest =
  | { readonly type: 'usage' }
  | { readonly type: 'diff' }
  /** The files become what they were before the message that `say` was given this id with. A dry run changes nothing. */
  | { readonly type: 'rewind'; readonly messageId: string; readonly isDryRun: boolean };

/** The answer to a control request. */
export type ControlAnswer =
  | ProgramUsage
  | ProgramDiff
  | ProgramRewind
  /** The version of the program does not know the request. */
  | { readonly type: 'unsupported' }
  /** The program refused, in its own words, or did not answer in time. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'exited' };

/** What the program itself counts for the conversation. A restart of the program may begin the count again. */
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

/** How the workspace differs from what its version control has. */
export interface ProgramDiff {
  readonly type: 'diff';
  readonly files: readonly FileDiff[];
  /** Files that differ and are not listed. */
  readonly filesOmitted: number;
  /** Why there is no diff, in the program's words; null if there is one. */
  readonly reason: string | null;
}

/** How one file differs. */
export interface FileDiff {
  readonly path: string;
  readonly status: string;
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
  /** Hunks of a unified diff; null if the program gives none (untracked, binary or large files) or the limit was reached. */
  readonly patch: string | null;
}

/** The files that a rewind changes. */
export interface ProgramRewind {
  readonly type: 'rewind';
  readonly isDryRun: boolean;
  /** As the program names them. */
  readonly files: readonly string[];
  /** Lines, by which the files change. */
  readonly added: number;
  readonly removed: number;
}
