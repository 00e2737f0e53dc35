import { workspaceLimits } from '../limits.ts';
import type { GitLimits } from './run-git.ts';

/** The resources that a git process may use outside of a sandbox, unless its caller sets lower limits. */
export const PROCESS_LIMITS: GitLimits = {
  dataBytes: workspaceLimits.cloneDataBytesMax,
  cpuSeconds: workspaceLimits.cloneCpuSeconds,
  fileBytes: workspaceLimits.cloneBytesMax,
};
