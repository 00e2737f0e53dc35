import type { AuditLog, Auditor } from '../../../store/audit.ts';

/**
 * Runs a change of files or repositories between two entries of the audit log. It cannot be written in one transaction with
 * them: the entry `…_started` is stored before the change begins, so a crash leaves no change without an entry.
 */
export async function recorded<Result>(
  log: Pick<AuditLog, 'append'>,
  audit: Auditor,
  { action, target, details }: RecordedAction,
  run: () => Promise<Result>,
): Promise<Result> {
  await log.append([audit(`${action}_started`, target, details)]);
  const result = await run().catch(async (error: unknown) => {
    // The caller receives the failure of the change, even if the entry cannot be stored.
    await log.append([audit(`${action}_failed`, target, details)]).catch(() => {});
    throw error;
  });
  await log.append([audit(`${action}_done`, target, details)]);
  return result;
}

/** An action such as `changes.apply`, its target session, and the details of the request. */
export interface RecordedAction {
  readonly action: string;
  readonly target: string;
  readonly details?: object;
}
