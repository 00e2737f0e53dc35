import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { diffTrees } from './diff-trees.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import { writeFiles } from './write/write-files.ts';

/** The files to write. */
export interface WriteTreeOptions {
  /** The tree that the directory has now. Absent for a new directory that no agent can reach yet. */
  readonly from?: string | undefined;
  /** Only these files, and the files of these directories. */
  readonly paths?: readonly string[] | undefined;
}

/** Writes the files of a tree to a directory. */
export async function writeTree(
  repository: SnapshotRepository,
  tree: string,
  directory: string,
  { from, paths }: WriteTreeOptions = {},
): Promise<void> {
  if (from !== undefined || paths !== undefined) {
    const changes = await diffTrees(repository, from ?? repository.emptyTree, tree, { paths });
    return await writeFiles(repository, changes, directory);
  }
  // Git writes many files faster than `writeFiles`. It follows links, so it is used only if no agent can have created any.
  const indexFile = repository.file(`scratch-${randomUUID()}`);
  const place = { cwd: directory, workTree: directory, indexFile };
  try {
    await repository.run(['read-tree', tree], place);
    await repository.run(['checkout-index', '-a', '-f', '-q'], place);
  } finally {
    await rm(indexFile, { force: true });
  }
}
