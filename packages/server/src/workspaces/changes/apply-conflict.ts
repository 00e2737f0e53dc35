import { RequestError, requestError } from '../../base/request-error.ts';
import type { MergeConflict } from '../snapshots/merge-trees.ts';
import { changesLimits } from './limits.ts';

/** A file to be removed that the sparse checkout of the target directory does not include. */
interface SparseConflict {
  readonly path: string;
  readonly reason: 'sparse';
}

type ApplyConflict = MergeConflict | SparseConflict;

/** The error for changes that cannot be applied. Nothing was written. */
export function applyConflict(target: string, conflicts: readonly ApplyConflict[]): RequestError {
  return toError('apply_conflict', conflicts, (names) => `the changes conflict with ${target} in ${names}`);
}

/** The error for a restore that would replace files that the session did not write last. Nothing was written. */
export function restoreConflict(directory: string, conflicts: readonly MergeConflict[], advice?: string): RequestError {
  const toProblem = (names: string) => `files in ${directory} have changed since the session worked there (${names})`;
  return toError('restore_conflict', conflicts, toProblem, advice);
}

function toError(
  code: 'apply_conflict' | 'restore_conflict',
  conflicts: readonly ApplyConflict[],
  toProblem: (names: string) => string,
  advice?: string,
): RequestError {
  const files = [...new Map(conflicts.map((conflict) => [conflict.path, conflict])).values()];
  const names = describePaths(files.map(({ path }) => path));
  return requestError(code, `${toProblem(names)}, and nothing was written`, {
    ...(advice === undefined ? {} : { advice }),
    details: {
      files: files.slice(0, changesLimits.conflictsMax).map((conflict) => toDetails(conflict, code)),
      files_count: files.length,
    },
  });
}

/** The first paths, and the number of further paths. */
export function describePaths(paths: readonly string[]): string {
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : '';
  return `${paths.slice(0, NAMED_MAX).join(', ')}${more}`;
}

/** Files that the error message names. */
const NAMED_MAX = 5;

function toDetails(conflict: ApplyConflict, code: 'apply_conflict' | 'restore_conflict') {
  const { path, reason } = conflict;
  const isSince = code === 'restore_conflict' && reason === 'content';
  const { places = null } = reason === 'sparse' ? {} : conflict;
  return { path, reason, places, text: isSince ? 'changed after the session wrote it' : describeConflict(conflict) };
}

/** The reason of a conflict for people. */
function describeConflict(conflict: ApplyConflict): string {
  if (conflict.reason === 'sparse') return 'the session deleted the file, which your sparse checkout leaves out';
  const { reason, places, sides } = conflict;
  if (reason === 'directory') return 'a file on one side and a directory on the other';
  if (reason === 'content') {
    const count = places === undefined ? '' : ` (${places === 1 ? '1 place' : `${places} places`})`;
    return `the same lines were changed on both sides${count}`;
  }
  if (sides === undefined) return 'your file cannot be read, is larger than 10 MB, or is not a regular file';
  const { ours, theirs } = sides;
  if (ours === 'deleted') return 'you deleted the file, and the session changed it';
  if (theirs === 'deleted') return 'the session deleted the file, and you changed it';
  if (ours === 'added') return 'both sides added the file, with different content';
  return 'both sides changed the file, which is not text';
}
