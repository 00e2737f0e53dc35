import { lstat, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitFailure } from '../git/git-failure.ts';
import type { GitOutput } from '../git/run-git.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import { workspaceLimits } from '../limits.ts';
import type { SourceRepository } from '../workspace-source.ts';
import type { PrivateGit } from './private-git.ts';
import { readBelow } from './read-below.ts';

/** The user's working tree, accessed through the private git directory of a session. */
export interface UserTree {
  readonly git: RepositoryGit;
  readonly repository: SourceRepository;
  readonly privateGit: PrivateGit;
}

/**
 * Copies the user's index, which has the states of unchanged files, so that git need not read them all. An index that is split
 * into two files cannot be copied. Then an index is created from the base, and git reads all files.
 */
export async function copyUserIndex(tree: UserTree, to: string): Promise<void> {
  const { repository } = tree;
  // The time is read before the content: if the index is replaced in between, it is treated as older, which only costs time.
  const { mtimeMs } = await lstat(join(repository.gitDirectory, 'index')).catch(() => ({ mtimeMs: 0 }));
  const content = await readBelow(repository.gitDirectory, 'index', workspaceLimits.indexBytesMax);
  if (content !== undefined) {
    await writeFile(to, content, { mode: 0o600 });
    // Git reads files again that changed in the second in which the index was written, so a copy must have the time of the original.
    await utimes(to, Math.floor(mtimeMs / 1_000), Math.floor(mtimeMs / 1_000));
    if (await isUsable(tree, to)) return;
    await rm(to);
  }
  if (repository.base !== null) await runOnTree(tree, ['read-tree', repository.base], { indexFile: to });
}

async function isUsable(tree: UserTree, indexFile: string): Promise<boolean> {
  try {
    await runOnTree(tree, ['ls-files', '--cached', '--', '.git'], { indexFile });
    return true;
  } catch (error) {
    if (error instanceof GitFailure) return false;
    throw error;
  }
}

/** Runs git in the private git directory on the user's working tree, which is only read. */
export async function runOnTree(
  { git, repository, privateGit }: UserTree,
  args: readonly string[],
  options: { readonly indexFile?: string; readonly codes?: readonly number[] } = {},
): Promise<GitOutput> {
  const { top } = repository;
  return await git.run(args, {
    cwd: top,
    gitDirectory: privateGit.path,
    workTree: top,
    ...options,
    timeoutMs: workspaceLimits.checkoutTimeoutMs,
    reach: { readOnlyPaths: privateGit.objects, writablePaths: [privateGit.path] },
  });
}
