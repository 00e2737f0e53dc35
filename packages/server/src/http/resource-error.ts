import { type DoorError, doorError } from './door-error.ts';

/** The error of an exhausted machine, which the caller can retry or report to the operator. */
export function toResourceError(error: unknown): DoorError | undefined {
  if (isOutOfResources(error)) return doorError('out_of_resources', 'the server has too much open', { cause: error });
  if (FULL.has(codeOf(error)) || isDatabaseFull(error)) {
    return doorError('storage_full', 'the disk of the server is full', { cause: error });
  }
  return undefined;
}

/** No descriptors, processes or memory at this moment: the same call may succeed later. */
export function isOutOfResources(error: unknown): boolean {
  return BUSY.has(codeOf(error));
}

const BUSY: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']);
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Stores report the error of their database as a cause, sometimes of a cause. */
function isDatabaseFull(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < CAUSES_MAX; each = each.cause, depth++) {
    if ('errcode' in each && each.errcode === SQLITE_FULL) return true;
    if ('code' in each && each.code === POSTGRES_DISK_FULL) return true;
  }
  return false;
}

const CAUSES_MAX = 5;
const SQLITE_FULL = 13;
const POSTGRES_DISK_FULL = '53100';

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
