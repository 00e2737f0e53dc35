import type { BytePath } from './objects/path-text.ts';

/** A path whose content is not in the snapshot, and why. */
export interface NotRecorded {
  readonly path: BytePath;
  readonly reason: NotRecordedReason;
  /** Changes with the file, where that can be seen: the same file is reported once. */
  readonly stamp?: string;
}

/**
 * Why a path is not in a snapshot. `too_large`: the file is larger than the limit. `too_much`: the record had stored as much
 * as one record may. `special`: a pipe, socket or device. `unsupported`: git cannot have such a path. `failed`: the record as
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
