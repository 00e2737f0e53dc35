import type { PreparedRepositories } from '../../workspaces/clone/repositories.ts';

/** Puts repositories into a workspace before the first model request of each run. Never rejects. */
export type PrepareWorkspace = (
  sessionId: string,
  openWorkspace: () => Promise<string>,
  signal: AbortSignal,
) => Promise<PreparedRepositories>;
