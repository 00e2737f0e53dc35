/** A failure of the database or of the connection to it. Not visible outside of this folder. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  /** The SQLSTATE: five characters. */
  readonly code: string | undefined;
  /** The connection is lost; it is unknown whether the statement in progress took effect. */
  readonly isLost: boolean;
  /** No connection could be made, so nothing was done. */
  readonly isUnreachable: boolean;

  constructor(cause: unknown, kind: 'lost' | 'unreachable' | 'refused') {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = codeOf(cause);
    this.isLost = kind === 'lost';
    this.isUnreachable = kind === 'unreachable';
  }

  /** A concurrent transaction came first: a retry may work. A row that another process has just inserted counts as well. */
  get isConflict(): boolean {
    return !this.isLost && !this.isUnreachable && CONFLICTS.has(this.code ?? '');
  }
}

/** Serialisation failure, deadlock, a unique key that was taken, or a parent that was deleted, in the meantime. */
const CONFLICTS = new Set(['40001', '40P01', '23505', '23503']);

/** Converts the error of a query: the server rejected the query, or the connection ended. */
export function toFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  const code = codeOf(error);
  return new DatabaseFailure(error, code === undefined || endsConnection(code) ? 'lost' : 'refused');
}

/** Converts the error of an attempt to connect. A wrong password or name is not retried. */
export function toUnreachable(error: unknown): DatabaseFailure {
  const cause = error instanceof DatabaseFailure ? error.cause : error;
  return new DatabaseFailure(cause, /^(28|3D|42)/.test(codeOf(cause) ?? '') ? 'refused' : 'unreachable');
}

/** Whether the server is stopping, has ended the connection, or reports that it is broken. */
function endsConnection(code: string): boolean {
  return code.startsWith('08') || code.startsWith('57P') || code === '25P03' || code === '25P04';
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error ? error.code : undefined;
}
