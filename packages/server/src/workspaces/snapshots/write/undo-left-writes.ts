import { basename } from 'node:path';
import { FleetloomError } from '../../../base/errors.ts';
import type { Report } from '../../../base/in-background.ts';
import { listNames } from '../../../base/list-names.ts';
import type { Git } from '../../git/run-git.ts';
import { SnapshotRepository } from '../objects/snapshot-repository.ts';
import { undoInterrupted, type UndoneWrite } from './undo-interrupted.ts';
import { listLeftJournals } from './write-journal.ts';

/** The check of directories in which files may be set back, and the receiver of reports. */
export interface UndoOptions {
  readonly canWrite: (directory: string) => Promise<boolean>;
  readonly onProblem: Report;
  readonly fileBytesMax?: number | undefined;
}

/**
 * Sets back all files that processes of this machine were writing when they were killed, for the snapshot repositories in a
 * directory. Files that cannot be set back are reported each time.
 */
export async function undoLeftWrites(
  git: Git,
  directory: string,
  { canWrite, onProblem, fileBytesMax }: UndoOptions,
): Promise<void> {
  for (const { repositoryPath, journal } of await listLeftJournals(directory)) {
    const sessionId = basename(repositoryPath);
    const { directory: target } = journal;
    try {
      if (!(await canWrite(target))) throw new Error('it was moved, or is not in a directory that this server allows');
      const repository = await SnapshotRepository.open(git, repositoryPath, fileBytesMax);
      if (repository === undefined) throw new Error('the recorded files of the session are gone');
      const undone = await undoInterrupted(repository, target);
      if (undone !== undefined) onProblem(describe(sessionId, undone));
    } catch (cause) {
      const names = journal.changes.map(({ path }) => path);
      const reason = cause instanceof Error ? cause.message : String(cause);
      const problem = `${BEGIN} ${sessionId} to ${target}, and they cannot be set back (${reason}): it may have some of ${listNames(names)}`;
      onProblem(new FleetloomError({ code: 'write_interrupted', kind: 'caller', problem, advice: ADVICE, cause }));
    }
  }
}

const BEGIN = 'an earlier process was killed while it wrote changes of';
const ADVICE = 'check these files, and repeat the apply, restore or merge';

function describe(sessionId: string, { directory, undoneCount, left }: UndoneWrite): FleetloomError {
  const rest = left.length === 0 ? '' : `, except ${listNames(left)}, which changed since`;
  const problem = `${BEGIN} ${sessionId} to ${directory}: ${undoneCount} files were set back${rest}`;
  const advice = left.length === 0 ? 'repeat the apply, restore or merge' : ADVICE;
  return new FleetloomError({ code: 'write_interrupted', kind: 'caller', problem, advice });
}
