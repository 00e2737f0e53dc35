import { type RequestError, requestError } from './request-error.ts';

/** The error of an exhausted machine or an unreachable database, which the caller can retry or report to the operator. */
export function toResourceError(error: unknown): RequestError | undefined {
  if (isOutOfResources(error))
    return requestError('out_of_resources', 'the server has too much open', { cause: error });
  if (isStorageFull(error)) return requestError('storage_full', 'the disk of the server is full', { cause: error });
  if (isDatabaseAway(error))
    return requestError('database_unavailable', 'the database of the server does not answer', { cause: error });
  return undefined;
}

/** No space for a write: the disk or a quota is full, or a file is as large as it may be. */
export function isStorageFull(error: unknown): boolean {
  return FULL.has(codeOf(error)) || isDatabaseFull(error);
}

/** No descriptors, processes or memory at this moment: the same call may succeed later. */
export function isOutOfResources(error: unknown): boolean {
  return BUSY.has(codeOf(error));
}

const BUSY: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']);
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Stores report the error of their database as a cause, sometimes of a cause. */
function isDatabaseFull(error: unknown): boolean {
  return causesOf(error).some(
    (each) =>
      ('errcode' in each && SQLITE_NO_SPACE.has(each.errcode)) || ('code' in each && each.code === POSTGRES_DISK_FULL),
  );
}

/** Whether the connection was lost or cannot be made, or a statement exceeded its time limit. */
export function isDatabaseAway(error: unknown): boolean {
  return causesOf(error).some(
    (each) =>
      ('isLost' in each && each.isLost === true) ||
      ('isUnreachable' in each && each.isUnreachable === true) ||
      ('code' in each && POSTGRES_TOO_SLOW.has(each.code)),
  );
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let each = error; each instanceof Error && causes.length < CAUSES_MAX; each = each.cause) causes.push(each);
  return causes;
}

const CAUSES_MAX = 5;
/** SQLITE_FULL, and SQLITE_IOERR_WRITE: SQLite reports a full quota (EDQUOT) and a file at its limit (EFBIG) as a failed write. */
const SQLITE_NO_SPACE: ReadonlySet<unknown> = new Set([13, 778]);
const POSTGRES_DISK_FULL = '53100';
/** A lock, and a statement, that took longer than its timeout; and a server out of connections or memory. */
const POSTGRES_TOO_SLOW: ReadonlySet<unknown> = new Set(['55P03', '57014', '53000', '53200', '53300']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
