import type { FoundGit } from './find-git.ts';
import { PROCESS_LIMITS } from './process-limits.ts';
import type { Git } from './run-git.ts';

/** Runs git on repositories of the server, without a sandbox. Agents choose their content, so each process is limited. */
export function createOwnGit(findGit: () => Promise<FoundGit & { type: 'found' }>): Git {
  return {
    run: async (args, options) => await (await findGit()).git.run(args, { limits: PROCESS_LIMITS, ...options }),
  };
}
