import { type ErrorKind, FleetloomError } from '../base/errors.ts';

/** An error of the store or the log. Its code determines the kind and the advice. */
export function storeError(code: StoreErrorCode, problem: string, cause?: unknown): FleetloomError {
  const { kind, advice } = meanings[code];
  return new FleetloomError({ code, kind, problem, advice, ...(cause === undefined ? {} : { cause }) });
}

/** Whether an error has this code. Code outside of the store identifies errors by their codes only. */
export function isStoreError(error: unknown, code: StoreErrorCode): error is FleetloomError {
  return error instanceof FleetloomError && error.code === code;
}

export type StoreErrorCode = keyof typeof meanings;

const meanings = {
  not_found: { kind: 'caller', advice: 'check the id, and that it was not deleted' },
  already_exists: { kind: 'caller', advice: 'use another id' },
  version_conflict: { kind: 'caller', advice: 'read it again and repeat the change on what it is now' },
  archived: { kind: 'caller', advice: 'use one that is not archived' },
  already_resolved: { kind: 'caller', advice: 'answer each ask once' },
  key_taken: { kind: 'caller', advice: 'return the first answer, which is kept with the key' },
  invalid_cursor: { kind: 'caller', advice: 'start again without a cursor, or use one that this list gave' },
  invalid_limit: { kind: 'caller', advice: 'ask for fewer at a time' },
  too_many_inputs: { kind: 'retryable', advice: 'wait until the session has taken up what was sent' },
  frame_too_large: { kind: 'caller', advice: 'keep large content in a file and name it' },
  /** The receiver must stop at once, because another owner continues the session. */
  stale_owner: { kind: 'terminal', advice: 'stop the turns of this session, another owner has taken it over' },
  write_skipped: { kind: 'retryable', advice: 'fix what the write before it was refused for, then repeat both' },
  log_full: { kind: 'retryable', advice: 'wait for earlier appends before sending more' },
  log_broken: { kind: 'terminal', advice: 'restore the database from a backup' },
  closed: { kind: 'terminal', advice: 'open it again' },
  store_failed: { kind: 'retryable', advice: 'see the cause, make room or repair the connection, and repeat it' },
  store_locked: { kind: 'terminal', advice: 'stop the other process, or choose another file' },
  driver_missing: {
    kind: 'terminal',
    advice: 'run `npm install pg` where Fleetloom is installed, with -g if that was',
  },
  no_signals: {
    kind: 'terminal',
    advice:
      'a pooler in transaction mode needs a direct address of the database in --database-listen or FLEETLOOM_DATABASE_LISTEN',
  },
  store_too_new: { kind: 'terminal', advice: 'use the version of Fleetloom that wrote it, or a newer one' },
} as const satisfies Record<string, { kind: ErrorKind; advice: string }>;
