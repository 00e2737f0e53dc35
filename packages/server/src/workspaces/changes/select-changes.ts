import { requestError } from '../../base/request-error.ts';
import { diffTrees, type FileChange } from '../snapshots/diff-trees.ts';
import { toBytePath } from '../snapshots/objects/path-text.ts';
import type { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import { changesLimits } from './limits.ts';

/** The changes of a session to apply. */
export interface SelectedChanges {
  /** The tree that the session began with. */
  readonly base: string;
  /** The base tree with the selected changes. */
  readonly tree: string;
  readonly files: readonly FileChange[];
}

/** Selects all changes between two trees, or only changes in some files and directories. */
export async function selectChanges(
  repository: SnapshotRepository,
  trees: { readonly base: string; readonly tree: string },
  paths: readonly string[] | undefined,
): Promise<SelectedChanges> {
  const { base } = trees;
  const files = await diffTrees(repository, base, trees.tree, { paths: paths?.map(withoutSlash) });
  const missing = paths?.filter((path) => !files.some((file) => isIn(file.path, withoutSlash(path)))) ?? [];
  if (missing.length > 0) {
    const advice = 'name files or directories that GET /v1/sessions/{session_id}/changes lists';
    const details = { unchanged_paths: missing.slice(0, changesLimits.conflictsMax) };
    throw requestError('invalid_request', `paths: nothing has changed in ${missing[0]}`, { advice, details });
  }
  if (paths === undefined) return { base, tree: trees.tree, files };
  const changes = new Map(files.map(({ path, after }) => [toBytePath(path), after]));
  const tree = await repository.change(base, changes);
  // If a file has become a directory, or the reverse, one half of that change is not possible without the other.
  const implied = (await diffTrees(repository, base, tree)).find(({ path }) => !changes.has(toBytePath(path)));
  if (implied === undefined) return { base, tree, files };
  const problem = `paths: the chosen changes are not possible without the removal of ${implied.path}`;
  throw requestError('invalid_request', problem, { advice: 'choose that file too' });
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

function isIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
