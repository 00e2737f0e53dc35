import { limits } from '../base/limits.ts';

/** The limits of a log, which tests make small. */
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

export function toLogLimits(given: Partial<LogLimits>): LogLimits {
  return { ...limits, ...given };
}
