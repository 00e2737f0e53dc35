import { copyFile, link, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '../../tools/workspace/directory.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';

/**
 * Copies a snapshot repository. Objects never change, so both repositories share the files on disk, and removing one of them
 * leaves the other complete. The index is not copied: it has the file states of another directory. The workspace of
 * the copy gets the files of the tree when it is opened.
 */
export async function copyRepository({ path }: SnapshotRepository, target: string, tree: string): Promise<void> {
  const draft = `${target}.new`;
  await rm(draft, { recursive: true, force: true });
  await copyDirectory(path, draft);
  await writeFile(join(draft, FORK_FILE), `${tree}\n`, { mode: 0o600 });
  await rename(draft, target);
}

/** The file with the id of the tree to write to the workspace of a fork. Removed once the tree is written. */
export const FORK_FILE = 'fork-tree';

async function copyDirectory(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (SKIPPED.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyDirectory(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await copy(source, target, entry.name);
  }
}

/** Files that are not copied: indexes, and drafts of writes in progress. */
const SKIPPED = /^(index-|thread-|scratch-|merge-|tmp_|fork-tree$)/;

async function copy(source: string, target: string, name: string): Promise<void> {
  try {
    // Other files, such as settings, are copied and not linked, so that a change in place could not affect both repositories.
    if (!IMMUTABLE.test(name)) return await copyFile(source, target);
    await link(source, target);
  } catch (error) {
    // The object was packed in the meantime, and its pack is copied as well.
    if (isCode(error, 'ENOENT')) return;
    if (!isCode(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP')) throw error;
    await copyFile(source, target);
  }
}

/** The names of objects and packs, which never change. */
const IMMUTABLE = /^([0-9a-f]{38}|[0-9a-f]{62}|pack-.*)$/;
