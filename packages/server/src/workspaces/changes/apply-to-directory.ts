import { requestError } from '../../base/request-error.ts';
import { diffTrees, type FileChange } from '../snapshots/diff-trees.ts';
import { type MergeConflict, mergeTrees } from '../snapshots/merge-trees.ts';
import { type BytePath, toBytePath, toPathText } from '../snapshots/objects/path-text.ts';
import { type RecordedFiles, recordFiles } from '../snapshots/record-files.ts';
import type { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import { undoInterrupted } from '../snapshots/write/undo-interrupted.ts';
import { writeAllOrNone } from '../snapshots/write/write-all-or-none.ts';
import { applyConflict } from './apply-conflict.ts';
import { findObstacles } from '../snapshots/write/find-obstacles.ts';
import { findPathInGit } from '../sources/git-directories.ts';
import { changesLimits } from './limits.ts';
import type { SelectedChanges } from './select-changes.ts';

/** The directory to which changes are applied. */
export interface DirectoryTarget {
  readonly repository: SnapshotRepository;
  /** The real path of the user's directory. */
  readonly directory: string;
  readonly isDryRun: boolean;
  /** Finds the files that are not in the directory because its checkout is sparse. Called only if files are missing. */
  readonly findSparse?: (() => Promise<ReadonlySet<BytePath>>) | undefined;
}

/**
 * Merges changes into the user's files. All files to write are determined before the first one is written. Only
 * the files that the changes touch are read; an ignored or untracked file among them is treated as the user's version.
 */
export async function applyToDirectory(
  target: DirectoryTarget,
  changes: SelectedChanges,
): Promise<readonly FileChange[]> {
  const { repository, directory, isDryRun } = target;
  if (!isDryRun) await undoInterrupted(repository, directory);
  for (let attempt = 0; attempt < changesLimits.attemptsMax; attempt++) {
    const { ours, sparse } = await readOurs(target, changes);
    const outcome = await mergeTrees(repository, { base: changes.base, ours, theirs: changes.tree });
    if (outcome.type === 'conflicts') throw applyConflict(directory, outcome.files);
    const files = (await diffTrees(repository, ours, outcome.tree)).map((file) =>
      sparse.has(toBytePath(file.path)) ? { ...file, before: null } : file,
    );
    await checkOutsideGit(directory, files);
    const obstacles = await findObstacles(directory, files);
    if (obstacles.length > 0) throw applyConflict(directory, obstacles);
    if (isDryRun || files.length === 0) return files;
    // The user may have saved a file while this was computed.
    if ((await readOurs(target, changes)).ours !== ours) continue;
    await writeAllOrNone(repository, files, directory);
    return files;
  }
  const advice = 'save the files and stop the programs that write to it, and repeat the request';
  throw requestError('apply_conflict', `the files in ${directory} change all the time, and nothing was written`, {
    advice,
  });
}

/** Throws for files in a git directory: its hooks and settings are programs that the user's git runs. */
async function checkOutsideGit(directory: string, files: readonly FileChange[]): Promise<void> {
  const paths = files.map(({ path }) => path);
  const found = await findPathInGit(directory, paths);
  if (found === undefined) return;
  const problem = `${found} is in a git directory in ${directory}, which changes are not applied to`;
  throw requestError('not_applicable', problem, { advice: 'choose other files with paths' });
}

interface Ours {
  /** The tree that the session began with, with the user's current versions of the touched files. */
  readonly ours: string;
  /** Touched files that the sparse checkout does not include, and that count as unchanged. */
  readonly sparse: ReadonlySet<BytePath>;
}

async function readOurs(target: DirectoryTarget, changes: SelectedChanges): Promise<Ours> {
  const { repository, directory } = target;
  const known = new Map(changes.files.map(({ path, before }) => [toBytePath(path), before ?? undefined]));
  const found = await recordFiles(repository, directory, known);
  const unreadable = found.notRecorded.map(({ path }): MergeConflict => ({ path: toPathText(path), reason: 'kind' }));
  if (unreadable.length > 0) throw applyConflict(directory, unreadable);
  const sparse = await findSparse(target, changes, found.changes);
  const present = [...found.changes].filter(([path]) => !sparse.has(path));
  return { ours: await repository.change(changes.base, new Map(present)), sparse };
}

/** Missing files that a sparse checkout does not include, so the user did not delete them. Throws if one is to be removed: git would not see it. */
async function findSparse(
  target: DirectoryTarget,
  { files }: SelectedChanges,
  found: RecordedFiles['changes'],
): Promise<ReadonlySet<BytePath>> {
  const missing = files.filter(({ path }) => found.get(toBytePath(path)) === null);
  const all = missing.length === 0 ? undefined : await target.findSparse?.();
  const sparse = missing.filter(({ path }) => all?.has(toBytePath(path)));
  const kept = sparse.filter(({ after }) => after === null);
  if (kept.length > 0)
    throw applyConflict(
      target.directory,
      kept.map(({ path }) => ({ path, reason: 'sparse' })),
    );
  return new Set(sparse.map(({ path }) => toBytePath(path)));
}
