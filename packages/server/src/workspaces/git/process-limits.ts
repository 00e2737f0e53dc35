import { workspaceLimits } from '../limits.ts';
import type { GitLimits } from './run-git.ts';

/** What a git process may use up outside of a sandbox, unless its caller allows less. */
export const PROCESS_LIMITS: GitLimits = {
  dataBytes: workspaceLimits.cloneDataBytesMax,
  cpuSeconds: workspaceLimits.cloneCpuSeconds,
  fileBytes: workspaceLimits.cloneBytesMax,
};
