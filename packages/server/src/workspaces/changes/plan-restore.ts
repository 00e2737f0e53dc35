import type { FileTouch } from '@fleetloom/protocol/fleet';
import { diffTrees, type FileChange } from '../snapshots/diff-trees.ts';
import { toBytePath, toPathText } from '../snapshots/objects/path-text.ts';
import type { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import { recordFiles } from '../snapshots/record-files.ts';
import type { WrittenTrees } from '../snapshots/recorder.ts';
import { restoreConflict } from './apply-conflict.ts';
import { findObstacles } from '../snapshots/write/find-obstacles.ts';
import type { TreeFrame } from './history.ts';

/** The workspace in which files are restored. */
export interface RestoreTarget {
  readonly repository: SnapshotRepository;
  /** The directory of the workspace. With `in_place` it has the user's own files. */
  readonly directory: string;
  readonly overwrites: boolean;
}

/** The recorded states between which files are restored. */
export interface RestoreRange {
  readonly at: TreeFrame;
  readonly last: TreeFrame;
  /** The recorded changes between both states. */
  readonly touches: ReadonlyMap<string, readonly FileTouch[]>;
}

/** The files that a restore replaces. */
export interface RestorePlan extends WrittenTrees {
  readonly files: readonly FileChange[];
  /** Files among them that the session did not write last, or may not have written. */
  readonly overwritten: readonly string[];
}

/**
 * Compares the files on disk with the last recorded state. Only files that the session changed are replaced. Such a file
 * that has changed since is a conflict, unless it may be overwritten. Writes nothing to the workspace.
 */
export async function planRestore(
  { repository, directory, overwrites }: RestoreTarget,
  { at, last, touches }: RestoreRange,
): Promise<RestorePlan> {
  const differing = await diffTrees(repository, last.payload.tree, at.payload.tree);
  const wanted = differing.filter(({ path }) => !(touches.get(path)?.every(isByUser) ?? false));
  const known = new Map(wanted.map(({ path, before }) => [toBytePath(path), before ?? undefined]));
  const found = await recordFiles(repository, directory, known);
  // The content of these files cannot be recorded, so replacing them would lose it.
  const unreadable = found.notRecorded.map(({ path }) => toPathText(path));
  if (unreadable.length > 0) throw restoreConflict(directory, unreadable.map(toConflict), MOVE_AWAY);
  const from = await repository.change(last.payload.tree, found.changes);
  const tree = await repository.change(from, new Map(wanted.map(({ path, after }) => [toBytePath(path), after])));
  const files = await diffTrees(repository, from, tree);
  const obstacles = await findObstacles(directory, files);
  if (obstacles.length > 0) throw restoreConflict(directory, obstacles, MOVE_AWAY);
  const isUsers = (path: string) => {
    const all = touches.get(path) ?? [];
    const touch = all.at(-1);
    const isLast = touch !== undefined && isByUser(touch);
    return found.changes.has(toBytePath(path)) || isLast || mayHaveUsers(all);
  };
  const overwritten = files.map(({ path }) => path).filter(isUsers);
  if (overwritten.length > 0 && !overwrites) throw restoreConflict(directory, overwritten.map(toConflict));
  return { from, tree, files, overwritten };
}

const MOVE_AWAY = 'move these files away, and repeat the request';

function toConflict(path: string) {
  return { path, reason: 'content' } as const;
}

/**
 * Whether a change was found by a restore before it replaced files, or while no tool call ran: then, as far as can be known, the session
 * did not make it.
 */
function isByUser({ cause, session_thread_id: threadId }: FileTouch): boolean {
  return cause === 'outside' || (cause === 'turn' && threadId === null);
}

/** Whether the user may have made a change, because it was found after a crash or while no tool call ran, and no restore has replaced it since. */
function mayHaveUsers(touches: readonly FileTouch[]): boolean {
  const restored = touches.findLastIndex(({ cause }) => cause === 'restore');
  return touches.some(({ cause }, at) => (cause === 'recovered' || cause === 'outside') && at > restored);
}
