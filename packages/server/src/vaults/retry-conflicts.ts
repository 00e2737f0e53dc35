import { baseLimits } from '../base/limits.ts';
import { isStoreError } from '../store/store-errors.ts';

/** Runs a change again after a version conflict. The change must read its documents each time. */
export async function retryConflicts<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change();
    } catch (error) {
      if (!isStoreError(error, 'version_conflict') || attempt >= baseLimits.updateAttemptsMax) throw error;
    }
  }
}
