import { storeError } from '../store-errors.ts';
import type { Database } from './database.ts';

/**
 * Files that were written before deleted rows were overwritten have such rows in their unused parts. They are rewritten
 * once, which takes some seconds and as much free space again for each gigabyte. Where there is none, the next start
 * tries again.
 */
export function eraseEarlier(
  database: Database,
  { isNew, onProblem }: { readonly isNew: boolean; readonly onProblem: (problem: unknown) => void },
): void {
  const { version } = database
    .prepare<{ version: number }>('SELECT user_version AS version FROM pragma_user_version')
    .get()!;
  if (version >= ERASING) return;
  try {
    // Secrets of environment keys in responses stored for repeated requests.
    database.prepare(`DELETE FROM idempotency_keys WHERE result LIKE '%"secret":"fleetloom_%'`).run();
    if (!isNew) database.exec('VACUUM');
    database.emptyLog();
    database.exec(`PRAGMA user_version = ${ERASING}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const problem = `${database.path} may still hold content of sessions that were deleted before (${reason})`;
    onProblem(storeError('store_failed', problem, cause));
  }
}

/** The `user_version` of a file whose deleted rows are overwritten. */
const ERASING = 1;
