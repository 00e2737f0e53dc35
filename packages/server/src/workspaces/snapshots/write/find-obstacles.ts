import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { isCode } from '../../../tools/workspace/directory.ts';
import type { FileChange } from '../diff-trees.ts';
import { recordFiles } from '../record-files.ts';
import { HeldPaths, toPath } from '../held-path.ts';
import type { MergeConflict } from '../merge-trees.ts';
import { type BytePath, toBytePath, toPathText } from '../objects/path-text.ts';
import type { ObjectRepository } from '../objects/object-repository.ts';
import type { JournalChange } from './write-journal.ts';

/**
 * Finds obstacles to files that are to be written: a file or a link at the path of a directory, or a directory with remaining files
 * at the path of a file. Called before anything is written.
 */
export async function findObstacles(directory: string, changes: readonly FileChange[]): Promise<MergeConflict[]> {
  const removed = new Set(changes.filter(({ after }) => after === null).map(({ path }) => toBytePath(path)));
  const held = new HeldPaths(directory);
  const found = new Set<BytePath>();
  try {
    for (const { path } of changes.filter(({ after }) => after !== null)) {
      const obstacle = await findObstacle(held, toBytePath(path).split('/'), removed);
      if (obstacle !== undefined) found.add(obstacle);
    }
  } finally {
    await held.close();
  }
  return [...found].map((path) => ({ path: toPathText(path), reason: 'directory' }));
}

/** The files whose content on disk differs from `before`, including files that cannot be recorded. */
export async function findChanged(
  repository: ObjectRepository,
  directory: string,
  changes: readonly JournalChange[],
): Promise<ReadonlySet<string>> {
  const known = new Map(changes.map(({ path, before }) => [toBytePath(path), before ?? undefined]));
  const found = await recordFiles(repository, directory, known);
  const paths = [...found.changes.keys(), ...found.notRecorded.map(({ path }) => path)];
  return new Set(paths.map(toPathText));
}

async function findObstacle(
  held: HeldPaths,
  names: readonly BytePath[],
  removed: ReadonlySet<BytePath>,
): Promise<BytePath | undefined> {
  for (let depth = 1; depth <= names.length; depth++) {
    const inside = names.slice(0, depth).join('/');
    const stats = await statAt(held, names.slice(0, depth));
    if (stats === undefined) return undefined;
    if (depth === names.length) {
      return stats.isDirectory() && !(await isEmptied(held, names, removed)) ? inside : undefined;
    }
    if (!stats.isDirectory()) return removed.has(inside) ? undefined : inside;
  }
  return undefined;
}

async function statAt(held: HeldPaths, names: readonly BytePath[]): Promise<Stats | undefined> {
  const parent = await held.hold(names.slice(0, -1));
  if (parent === undefined) return undefined;
  try {
    return await lstat(toPath(parent, names.at(-1)!));
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Whether all files of a directory, and so the directory, will be removed. */
async function isEmptied(
  held: HeldPaths,
  names: readonly BytePath[],
  removed: ReadonlySet<BytePath>,
): Promise<boolean> {
  const directory = await held.hold(names);
  if (directory === undefined) return false;
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  // An empty directory stays: only directories that lose their last file are removed.
  if (entries.length === 0) return false;
  for (const entry of entries) {
    const inside = [...names, entry.name.toString('latin1')];
    const isGone = entry.isDirectory() ? await isEmptied(held, inside, removed) : removed.has(inside.join('/'));
    if (!isGone) return false;
  }
  return true;
}
