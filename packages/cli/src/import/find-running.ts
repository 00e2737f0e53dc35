import { limits } from '../base/limits.ts';
import { UsageError } from '../base/usage-error.ts';
import type { SessionFile } from './session-files.ts';
import type { SessionSource } from './session-source.ts';

/** Sessions whose files changed within the limit, of this machine or of a directory, newest first. */
export async function findRunning(
  source: Pick<SessionSource, 'find' | 'findAll'>,
  directory: string | undefined,
  now: number,
): Promise<SessionFile[]> {
  const files = await find(source, directory);
  return files.filter(({ changedAt }) => now - changedAt < limits.attachRunningMs);
}

/** A directory without sessions may have some later. */
async function find(
  source: Pick<SessionSource, 'find' | 'findAll'>,
  directory: string | undefined,
): Promise<SessionFile[]> {
  try {
    return directory === undefined ? await source.findAll() : await source.find([directory]);
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}
