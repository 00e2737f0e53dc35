import { requestError } from '../../base/request-error.ts';
import { isMissingObject } from '../snapshots/objects/missing-object.ts';

/**
 * Turns the failure to read an object into an error for the caller. Snapshots refer to the objects of the user's repository,
 * which can be pruned there.
 */
export async function reportLostObjects<Value>(sessionId: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!isMissingObject(error)) throw error;
    const problem = `recorded files of ${sessionId} refer to objects that the repository of its directory does not have any more; \`git gc\` or \`git prune\` may have removed them`;
    const advice = 'restore the commit that the session began with (git fetch), or choose a later cursor';
    throw requestError('not_recorded', problem, { advice, cause: error });
  }
}
