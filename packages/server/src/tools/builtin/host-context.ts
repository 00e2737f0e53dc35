import type { HostPrograms } from './host-programs.ts';
import type { Shells } from './bash/shells.ts';
import type { WorkspaceFiles } from './files/workspace-files.ts';
import type { ToolLimits } from '../tool-limits.ts';

/** The context of a tool in the tool host. */
export interface HostContext {
  readonly threadId: string;
  /** Aborted to interrupt the tool, which then stops its work and its processes, and settles soon. */
  readonly signal: AbortSignal;
  readonly workspace: string;
  readonly files: WorkspaceFiles;
  readonly shells: Shells;
  readonly programs: HostPrograms;
  /** Environment variables of shells in addition to the variables of the host. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ToolLimits;
}
