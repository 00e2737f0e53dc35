import type { AuditLog, Auditor } from '../../../store/audit.ts';

/**
 * Runs what is done to files and repositories between two entries of the audit log. It cannot be written in one transaction with
 * them: the entry `…_started` is stored before anything is done, so a crash leaves nothing done without an entry.
 */
export async function recorded<Result>(
  log: Pick<AuditLog, 'append'>,
  audit: Auditor,
  { action, target, details }: RecordedAction,
  run: () => Promise<Result>,
): Promise<Result> {
  await log.append([audit(`${action}_started`, target, details)]);
  const result = await run().catch(async (error: unknown) => {
    // The failure is what the caller has to know, also where the entry cannot be stored.
    await log.append([audit(`${action}_failed`, target, details)]).catch(() => {});
    throw error;
  });
  await log.append([audit(`${action}_done`, target, details)]);
  return result;
}

/** What is done: `changes.apply`, to a session, with what the request asks for. */
export interface RecordedAction {
  readonly action: string;
  readonly target: string;
  readonly details?: object;
}
