import { limits } from '../base/limits.ts';
import { UsageError } from '../base/usage-error.ts';
import { findAllSessions, findSessions, type FindSessionsOptions } from './find-sessions.ts';
import type { SessionFile } from './session-files.ts';

/** Sessions whose files changed within the limit, of this machine or of a directory, newest first. */
export async function findRunning(
  directory: string | undefined,
  where: FindSessionsOptions,
  now: number,
): Promise<SessionFile[]> {
  const files = await find(directory, where);
  return files.filter(({ changedAt }) => now - changedAt < limits.attachRunningMs);
}

/** A directory without sessions may have some later. */
async function find(directory: string | undefined, where: FindSessionsOptions): Promise<SessionFile[]> {
  try {
    return directory === undefined ? await findAllSessions(where) : await findSessions([directory], where);
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}
