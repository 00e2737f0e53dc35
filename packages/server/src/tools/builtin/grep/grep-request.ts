import type { ToolLimits } from '../../tool-limits.ts';
import type { Directory } from '../../workspace/directory.ts';

/** One search: where, for what, and within which bounds. */
export interface GrepRequest {
  readonly directory: Directory;
  /** Searches this one only. */
  readonly file: string | undefined;
  readonly pattern: string;
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
}

/** What a search found, in lines of `path:number:text`. */
export interface GrepFound {
  readonly lines: string;
  readonly remarks: readonly string[];
}
