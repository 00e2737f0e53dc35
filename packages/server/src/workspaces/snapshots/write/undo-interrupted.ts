import { rmdir, unlink } from 'node:fs/promises';
import { isCode } from '../../../tools/workspace/directory.ts';
import { HeldPaths, toPath } from '../held-path.ts';
import { type BytePath, toBytePath } from '../objects/path-text.ts';
import type { SnapshotRepository } from '../objects/snapshot-repository.ts';
import { findChanged } from './find-obstacles.ts';
import { toReverse } from './to-reverse.ts';
import { writeFiles } from './write-files.ts';
import { endJournal, findLeftJournal, toDraftName, type WriteJournal } from './write-journal.ts';

/** The result of undoing the writes of a process that was killed. */
export interface UndoneWrite {
  readonly directory: string;
  /** The number of files that were set back. */
  readonly undoneCount: number;
  /** Files that were changed afterwards, and therefore not set back. */
  readonly left: readonly string[];
}

/**
 * Sets back the files of a directory that a process was writing when it was killed. A file that has neither its content from
 * before nor the content to be written stays unchanged. Undefined if no write was interrupted. May be interrupted and called again.
 */
export async function undoInterrupted(
  repository: SnapshotRepository,
  directory: string,
): Promise<UndoneWrite | undefined> {
  const journal = await findLeftJournal(repository.path, directory);
  if (journal === undefined) return undefined;
  const { changes } = journal;
  const draft = toDraftName(journal);
  await removeDrafts(
    directory,
    changes.map(({ path }) => toBytePath(path)),
    draft,
  );
  const back = toReverse(changes);
  const notWritten = await findChanged(repository, directory, back);
  const notBefore = await findChanged(repository, directory, changes);
  const written = back.filter(({ path }) => !notWritten.has(path) && notBefore.has(path));
  await writeFiles(repository, written, directory, { draft });
  await removeNewDirectories(journal);
  await endJournal(repository.path, directory);
  const left = changes.map(({ path }) => path).filter((path) => notWritten.has(path) && notBefore.has(path));
  return { directory, undoneCount: written.length, left };
}

async function removeDrafts(directory: string, paths: readonly BytePath[], draft: string): Promise<void> {
  const parents = new Set(paths.map((path) => path.split('/').slice(0, -1).join('/')));
  await inDirectories(directory, [...parents], async (parent) => await unlink(toPath(parent, draft)));
}

/** Removes the directories that were created, if they are empty. */
async function removeNewDirectories({ directory, newDirectories }: WriteJournal): Promise<void> {
  for (const path of newDirectories.map(toBytePath).toReversed()) {
    const names = path.split('/');
    await inDirectories(directory, [names.slice(0, -1).join('/')], async (parent) => {
      await rmdir(toPath(parent, names.at(-1)!));
    });
  }
}

async function inDirectories(
  root: string,
  paths: readonly BytePath[],
  work: (directory: Buffer) => Promise<void>,
): Promise<void> {
  const held = new HeldPaths(root);
  try {
    for (const path of [...paths].sort()) {
      const directory = await held.hold(path === '' ? [] : path.split('/'));
      if (directory === undefined) continue;
      await work(directory).catch((error: unknown) => {
        if (!isCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error;
      });
    }
  } finally {
    await held.close();
  }
}
