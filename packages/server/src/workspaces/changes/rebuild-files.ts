import { FleetloomError } from '../../base/errors.ts';
import { FORK_FILE } from '../snapshots/copy-repository.ts';
import { recordDirectory } from '../snapshots/record-directory.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { writeTree } from '../snapshots/write-tree.ts';
import { findPoint } from './find-point.ts';
import type { ReadHistory } from './history.ts';
import { stateOf } from './list-changes.ts';
import { selectWorkspace } from './select-workspace.ts';

/** The dependencies of {@link rebuildFiles}. */
export interface RebuildParts {
  readonly readHistory: ReadHistory;
  readonly snapshots: Pick<Snapshots, 'repositoryOf'>;
}

/**
 * Writes the last recorded files of a session to a workspace that was just created from its source. A session has recorded files
 * before its workspace is created only if the directory was removed. No agent can reach the workspace yet.
 */
export async function rebuildFiles(
  { readHistory, snapshots }: RebuildParts,
  sessionId: string,
  workspace: string,
): Promise<void> {
  const repository = await snapshots.repositoryOf(sessionId).catch((error: unknown) => {
    if (error instanceof FleetloomError && error.code === 'no_snapshots') return undefined;
    throw error;
  });
  // The files of a fork are written when its workspace is first recorded.
  if (repository === undefined || (await repository.hasFile(FORK_FILE))) return;
  const { frames } = selectWorkspace((await readHistory(sessionId)).frames);
  const last = findPoint(frames);
  if (last === undefined || stateOf(frames) !== 'open') return;
  const { tree } = last.payload;
  await writeTree(repository, tree, workspace, { from: await recordDirectory(repository, workspace, { base: tree }) });
}
