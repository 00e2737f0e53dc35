import { constants } from 'node:fs';
import { copyFile, mkdir, rm, rmdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { FleetloomError } from '../../base/errors.ts';
import { GitFailure } from '../git/git-failure.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import { workspaceLimits } from '../limits.ts';
import type { SourceRepository } from '../workspace-source.ts';
import type { PrivateGit } from './private-git.ts';
import { readBelow } from './read-below.ts';

/** A worktree of the user's repository that belongs to a session. */
export interface Worktree {
  readonly git: RepositoryGit;
  readonly repository: SourceRepository;
  readonly workspace: string;
  readonly privateGit: PrivateGit;
}

/**
 * Adds the worktree to the user's repository and writes its files. The user's repository gets a branch and a directory below
 * `worktrees/`, and nothing else. The files are written with the private git directory, so that no filter, attribute
 * or setting of the repository takes part.
 */
export async function addWorktree({ git, repository, workspace, privateGit }: Worktree): Promise<void> {
  const { commonDirectory, gitDirectory, objects, base, branch } = repository;
  if (base === null || branch === null) throw new TypeError('a worktree needs a commit and a branch');
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  try {
    await git.run(['worktree', 'add', '--quiet', '--no-checkout', '--no-track', '-b', branch, workspace, base], {
      cwd: workspace,
      gitDirectory: commonDirectory,
      workTree: workspace,
      settings: ['core.logAllRefUpdates=false', 'extensions.worktreeConfig=false'],
      reach: { writablePaths: [commonDirectory], readOnlyPaths: [gitDirectory, ...objects], isDirectoryWritable: true },
    });
  } catch (error) {
    throw toFailure(error, `git cannot add a worktree to ${repository.top}`);
  }
  await checkOut({ git, repository, workspace, privateGit });
  // Copies the index, so that the user's own git sees the worktree as unchanged.
  const index = join(adminOf(repository, workspace), 'index');
  await copyFile(join(privateGit.path, 'index'), index, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
}

async function checkOut({ git, repository, workspace, privateGit }: Worktree): Promise<void> {
  try {
    await git.run(['read-tree', '-u', '--reset', repository.base!], {
      cwd: workspace,
      gitDirectory: privateGit.path,
      workTree: workspace,
      settings: [`checkout.workers=${Math.min(availableParallelism(), CHECKOUT_WORKERS_MAX)}`],
      timeoutMs: workspaceLimits.checkoutTimeoutMs,
      reach: { readOnlyPaths: privateGit.objects, writablePaths: [privateGit.path], isDirectoryWritable: true },
    });
  } catch (error) {
    if (error instanceof GitFailure && MISSING.test(error.stderr)) throw missing(repository, error);
    throw toFailure(error, `git cannot write the files of ${repository.base} to the workspace`);
  }
}

const MISSING = /cannot read object|unable to read|missing blob/;

/** The error for missing objects. They are never fetched for a session, because a repository's settings for fetching can run programs. */
function missing({ top, base }: SourceRepository, cause: GitFailure): FleetloomError {
  return new FleetloomError({
    code: 'workspace_failed',
    kind: 'caller',
    problem: `${top} does not have all files of ${base}: it is a partial clone, or damaged`,
    advice: `fetch them with \`git archive ${base} > /dev/null\` in ${top}, or work on the directory in place`,
    cause,
  });
}

/** Workers of a checkout. More workers do not make it faster. */
const CHECKOUT_WORKERS_MAX = 8;

/**
 * Removes the session's entries in the user's repository: its directory below `worktrees/`, and its branch unless the branch has
 * been moved. Works after a crash during {@link addWorktree}, too. The caller removes the files.
 */
export async function forgetWorktree(
  git: RepositoryGit,
  { repository, workspace }: Pick<Worktree, 'repository' | 'workspace'>,
): Promise<void> {
  const { commonDirectory, gitDirectory, objects, base, branch } = repository;
  const admin = adminOf(repository, workspace);
  const pointer = await readBelow(
    commonDirectory,
    `worktrees/${basename(workspace)}/gitdir`,
    workspaceLimits.gitFileBytesMax,
  );
  // Another repository may be at this path now, whose worktree must not be removed.
  if (pointer === undefined || pointer.toString().trim() === join(workspace, '.git'))
    await rm(admin, { recursive: true, force: true });
  await rmdir(join(commonDirectory, 'worktrees')).catch(() => undefined);
  if (branch === null || base === null) return;
  const reach = { readOnlyPaths: [gitDirectory, ...objects], isDirectoryWritable: true };
  const options = { cwd: commonDirectory, gitDirectory: commonDirectory, reach };
  // Fails if the branch is gone, or was moved because changes were applied to it.
  await git.run(['update-ref', '-d', `refs/heads/${branch}`, base], options).catch((error: unknown) => {
    if (!(error instanceof GitFailure)) throw error;
  });
}

function adminOf({ commonDirectory }: SourceRepository, workspace: string): string {
  return join(commonDirectory, 'worktrees', basename(workspace));
}

function toFailure(error: unknown, problem: string): unknown {
  if (!(error instanceof GitFailure)) return error;
  return new FleetloomError({
    code: 'workspace_failed',
    kind: 'caller',
    problem: `${problem} (${error.message})`,
    advice: 'repair the repository, or create a session with another base or mode',
    cause: error,
  });
}
