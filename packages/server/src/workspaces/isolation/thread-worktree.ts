import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { FleetloomError } from '../../base/errors.ts';
import { GitFailure } from '../git/git-failure.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import type { DirectorySources } from '../sources/directory-sources.ts';
import type { PrivateGit } from '../sources/private-git.ts';
import type { WorkspaceSource } from '../workspace-source.ts';

/** The git side of the worktree of a thread: a linked worktree of the private git directory of its session. */
export interface ThreadGit {
  readonly privateGit: PrivateGit;
  readonly threadId: string;
  readonly branch: string;
  /** The commit that the session began with. */
  readonly base: string;
}

/** Undefined if the workspace of the session has no private git directory with commits, or is a directory below the top of its repository. */
export function findThreadGit(
  directories: Pick<DirectorySources, 'privateGitOf'>,
  source: WorkspaceSource,
  { sessionId, threadId }: { readonly sessionId: string; readonly threadId: string },
): ThreadGit | undefined {
  if (source.type !== 'directory' || source.repository?.base == null) return undefined;
  const { repository, mode, path } = source;
  if (mode !== 'worktree' && relative(repository.top, path) !== '') return undefined;
  return {
    privateGit: directories.privateGitOf(sessionId, repository),
    threadId,
    branch: `fleetloom/${toShort(sessionId)}-${toShort(threadId)}`,
    base: repository.base!,
  };
}

function toShort(id: string): string {
  return id.slice(-SHORT_ID_CHARS).toLowerCase();
}

const SHORT_ID_CHARS = 8;

/**
 * Adds the worktree to the private git directory, on a new branch that begins at the current commit of the session's agents.
 * Agents can write that directory, so git runs in the sandbox if there is one. Neither that directory nor the user's repository is
 * changed otherwise.
 */
export async function addThreadWorktree(git: RepositoryGit, thread: ThreadGit, workspace: string): Promise<void> {
  const { privateGit, threadId, branch, base } = thread;
  const reach = { readOnlyPaths: privateGit.objects, writablePaths: [privateGit.path], isDirectoryWritable: true };
  const add = async (commit: string) => {
    const args = ['--quiet', '--no-checkout', '--lock', '--no-track', '-B', branch, workspace, commit];
    await git.run(['worktree', 'add', ...args], {
      cwd: workspace,
      gitDirectory: privateGit.path,
      workTree: workspace,
      settings: ['core.logAllRefUpdates=false', 'extensions.worktreeConfig=false'],
      reach,
    });
  };
  try {
    // An agent may have changed HEAD so that it does not name a commit.
    await add('HEAD').catch(async (error: unknown) => {
      if (!(error instanceof GitFailure)) throw error;
      await add(base);
    });
    const gitDirectory = join(privateGit.path, 'worktrees', threadId);
    await git.run(['read-tree', branch], { cwd: workspace, gitDirectory, workTree: workspace, reach });
  } catch (cause) {
    if (!(cause instanceof GitFailure)) throw cause;
    const problem = `git cannot add a worktree for ${threadId} (${cause.message})`;
    const advice = 'delegate the task without `isolation`, or begin another session';
    throw new FleetloomError({ code: 'workspace_failed', kind: 'caller', problem, advice, cause });
  }
}

/** Removes the entry of an earlier worktree at the same path from the private git directory. Its files are removed already. */
export async function forgetThreadWorktree(git: RepositoryGit, thread: ThreadGit, workspace: string): Promise<void> {
  const { privateGit } = thread;
  await git
    .run(['worktree', 'remove', '-f', '-f', workspace], {
      cwd: privateGit.path,
      gitDirectory: privateGit.path,
      reach: { readOnlyPaths: privateGit.objects, isDirectoryWritable: true },
    })
    .catch((error: unknown) => {
      // Usually there is no earlier worktree, so git fails.
      if (!(error instanceof GitFailure)) throw error;
    });
}

/** Writes the file that covers `.git` in the sandbox, so that an agent cannot replace it. */
export async function writePointer({ privateGit, threadId }: ThreadGit, directory: string): Promise<void> {
  const target = join(privateGit.path, 'worktrees', threadId);
  await writeFile(pointerOf(directory, threadId), `gitdir: ${target}\n`, { mode: 0o600 });
}

/** The path of the file that covers `.git`, in the directory of the worktrees of the session. */
export function pointerOf(directory: string, threadId: string): string {
  return join(directory, `${threadId}.pointer`);
}
