import type { PreparationProblem } from '../../frames/payload-parts.ts';
import type { PreparedRepositories } from '../../workspaces/clone/repositories.ts';
import type { SetupResult } from '../../workspaces/workspace-source.ts';

/** The parts that a workspace was prepared with, and the problems of the parts that are missing. */
export type Prepared = Omit<PreparedRepositories, 'problems'> & { readonly problems: readonly PreparationProblem[] };

/** Puts repositories into a workspace, and installs packages, before the first model request of each run. Never rejects. */
export type PrepareWorkspace = (
  sessionId: string,
  openWorkspace: () => Promise<string>,
  signal: AbortSignal,
  onSetup: (setup: SetupResult) => Promise<void>,
) => Promise<Prepared>;
