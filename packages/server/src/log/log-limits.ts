import { storeLimits } from '../store/limits.ts';
import { logLimits } from './limits.ts';

/** The limits of a log. Tests use smaller ones. */
export interface LogLimits {
  readonly frameBytesMax: number;
  readonly logQueueBytesMax: number;
  readonly logCommitBytesMax: number;
  readonly logBatchBytesMax: number;
  readonly logBatchEntriesMax: number;
  readonly feedBytesMax: number;
  readonly feedsBytesMax: number;
  readonly logPollMs: number;
}

/** The limits of a log: the given ones, and defaults for the rest. */
export function toLogLimits(given: Partial<LogLimits>): LogLimits {
  return { ...storeLimits, ...logLimits, ...given };
}
