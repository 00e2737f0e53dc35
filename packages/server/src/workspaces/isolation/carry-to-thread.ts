import { closing, Directory, isCode } from '../../tools/workspace/directory.ts';
import { toInside, UPLOADS_PATH } from '../../tools/workspace/session-paths.ts';
import { copyEntry, createCopying } from '../sources/copy-tree.ts';
import type { RepositoriesSource } from '../workspace-source.ts';

/** Copies the git directory of each clone to a new worktree, because trees do not contain it. No link is followed. */
export async function carryGitDirectories(source: RepositoriesSource, workspace: string): Promise<void> {
  for (const { mountPath } of source.repositories) {
    const inside = toInside(mountPath);
    if (inside !== undefined) await carry(source.workspace, workspace, [...inside.split('/'), '.git']);
  }
}

/** Copies the files that were mounted for the session to a new worktree. */
export async function carryUploads(from: string, workspace: string): Promise<void> {
  await carry(from, workspace, toInside(UPLOADS_PATH)!.split('/'));
}

async function carry(from: string, to: string, names: readonly string[]): Promise<void> {
  await closing(await Directory.openRoot(from), async (source) => {
    await closing(await Directory.openRoot(to), (target) => carryBelow(source, target, names));
  });
}

async function carryBelow(
  source: Directory,
  target: Directory,
  [name = '', ...rest]: readonly string[],
): Promise<void> {
  if (rest.length === 0) return await copyEntry(source, name, target, createCopying());
  const from = await source.openDirectory(name).catch(ignoreMissing);
  if (from === undefined) return;
  await closing(from, async () => {
    await target.makeDirectory(name);
    await closing(await target.openDirectory(name), (inner) => carryBelow(from, inner, rest));
  });
}

/** Ignores that a directory does not exist, is not a directory, or is a link, which is not followed. */
function ignoreMissing(error: unknown): undefined {
  if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error;
}
