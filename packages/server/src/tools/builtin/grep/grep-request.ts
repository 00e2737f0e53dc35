import type { ToolLimits } from '../../tool-limits.ts';
import type { Directory } from '../../workspace/directory.ts';

/** One search: the path, the pattern and the limits. */
export interface GrepRequest {
  readonly directory: Directory;
  /** The name of a file, if only that file is searched. */
  readonly file: string | undefined;
  readonly pattern: string;
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
}

/** The result of a search, in lines of `path:number:text`. */
export interface GrepFound {
  readonly lines: string;
  readonly remarks: readonly string[];
}
