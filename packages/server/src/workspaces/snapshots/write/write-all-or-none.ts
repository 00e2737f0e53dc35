import { requestError } from '../../../base/request-error.ts';
import type { FileChange } from '../diff-trees.ts';
import { HeldPaths } from '../held-path.ts';
import { type BytePath, toBytePath, toPathText } from '../objects/path-text.ts';
import type { SnapshotRepository } from '../objects/snapshot-repository.ts';
import { toReverse } from './to-reverse.ts';
import { writeFiles } from './write-files.ts';
import { beginJournal, endJournal, type JournalChange, toDraftName } from './write-journal.ts';

/**
 * Writes changes to a directory whose files have the content from before. If one of them fails, the earlier ones are undone, and the
 * error names the file that failed, and all files that could not be set back. If the process is killed, its writes are
 * undone by `undoInterrupted`.
 */
export async function writeAllOrNone(
  repository: SnapshotRepository,
  changes: readonly FileChange[],
  directory: string,
): Promise<void> {
  if (changes.length === 0) return;
  // The journal names objects, which must exist even after a power failure.
  await repository.sync();
  const newDirectories = await findNewDirectories(directory, changes);
  const draft = toDraftName(await beginJournal(repository.path, { directory, changes, newDirectories }));
  const done: JournalChange[] = [];
  try {
    await writeFiles(repository, changes, directory, { done, draft });
  } catch (cause) {
    const left = await undo(repository, done, directory);
    const reason = cause instanceof Error ? cause.message : String(cause);
    const state =
      left.length === 0
        ? 'its files are as they were'
        : `${left.length} files are changed and could not be set back: ${left.slice(0, NAMED_MAX).join(', ')}`;
    const problem = `the changes cannot be written to ${directory} (${reason}), and ${state}`;
    throw requestError('not_applicable', problem, { advice: 'check its permissions and free space', cause });
  } finally {
    await endJournal(repository.path, directory);
  }
}

/** Undoes changes and returns the paths that could not be set back. */
async function undo(
  repository: SnapshotRepository,
  done: readonly JournalChange[],
  directory: string,
): Promise<readonly string[]> {
  const back = toReverse(done);
  const undone: JournalChange[] = [];
  // The error is ignored: all changes that are not in `undone` are reported.
  await writeFiles(repository, back, directory, { done: undone }).catch(() => {});
  return back.filter((change) => !undone.includes(change)).map(({ path }) => path);
}

const NAMED_MAX = 20;

/** The directories of new files that do not exist yet, parents first. */
async function findNewDirectories(directory: string, changes: readonly FileChange[]): Promise<readonly string[]> {
  const added = changes.filter(({ before }) => before === null).map(({ path }) => toBytePath(path));
  const parents = new Set(added.flatMap(toParents));
  const held = new HeldPaths(directory);
  const missing: BytePath[] = [];
  try {
    for (const path of [...parents].sort()) {
      if ((await held.hold(path.split('/'))) === undefined) missing.push(path);
    }
  } finally {
    await held.close();
  }
  return missing.map(toPathText);
}

function toParents(path: BytePath): readonly BytePath[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}
