import type { BytePath } from './objects/path-text.ts';

/** A path whose content is not in the snapshot, and why. */
export interface NotRecorded {
  readonly path: BytePath;
  readonly reason: NotRecordedReason;
  /** A text that changes with the file, if that can be determined, so that an unchanged file is reported only once. */
  readonly stamp?: string;
}

/**
 * Why a path is not in a snapshot. `too_large`: the file is larger than the limit. `too_much`: the record has stored as much
 * as one record may. `special`: a pipe, socket or device. `unsupported`: git does not support such a path. `failed`: the record as
 * a whole failed, and the next one repeats it.
 */
export type NotRecordedReason =
  | 'too_large'
  | 'too_much'
  | 'ignored'
  | 'special'
  | 'unreadable'
  | 'submodule'
  | 'git_directory'
  | 'nested_repository'
  | 'unsupported'
  | 'failed';
