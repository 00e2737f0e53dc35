import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetloomError } from '../../base/errors.ts';
import type { TreeRemover } from '../../base/files/remove-tree.ts';
import { createLocks } from '../../tools/locks.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import type { WorkspaceRecorder } from '../snapshots/recorder.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import type { DirectorySources } from '../sources/directory-sources.ts';
import { makeOwnDirectory } from '../sources/own-directory.ts';
import { PLAIN_MOUNTS, type WorkspaceMounts, type WorkspaceSource } from '../workspace-source.ts';
import { threadsOf, type Workspaces } from '../workspaces.ts';
import { addThreadWorktree, findThreadGit, forgetThreadWorktree, pointerOf, writePointer } from './thread-worktree.ts';
import { carryGitDirectories, carryUploads } from './carry-to-thread.ts';
import { createThreadRecords } from './thread-records.ts';

/** The worktrees of threads that work apart from the other threads of their session. */
export interface ThreadWorkspaces {
  /** Creates the worktree of a thread unless it exists. Throws a `FleetloomError` if that is not possible. */
  open(thread: IsolatedThread): Promise<ThreadWorkspace>;
  /** The path of the worktree of a thread, even if it does not exist. */
  pathOf(sessionId: string, threadId: string): string;
  /** The mounts of the sandbox of a thread in addition to its worktree, which must be open. */
  mountsOf(sessionId: string, threadId: string): Promise<WorkspaceMounts>;
  /** The recorder of the files of a thread. Opens the worktree. */
  openRecorder(thread: IsolatedThread): WorkspaceRecorder;
}

/** A thread with a worktree of its own. */
export interface IsolatedThread {
  readonly sessionId: string;
  readonly threadId: string;
  /** The files for the worktree if it has to be created: the first ones, or the ones that were recorded last. */
  readonly tree: string;
  /** Whether the log does not have the worktree yet: an existing worktree that began with another tree was then left by a crash. */
  readonly isNew: boolean;
}

/** The worktree of a thread. */
export interface ThreadWorkspace {
  readonly path: string;
  /** The branch of the worktree in the git directory of the session; null without a repository. */
  readonly branch: string | null;
}

/** The dependencies of {@link createThreadWorkspaces}. */
export interface ThreadWorkspacesOptions {
  /** The directory that contains the workspaces. */
  readonly directory: string;
  readonly workspaces: Pick<Workspaces, 'sourceOf'>;
  readonly snapshots: Pick<Snapshots, 'writeTree' | 'openThreadRecorder'>;
  readonly directories: Pick<DirectorySources, 'privateGitOf'>;
  readonly git: RepositoryGit;
  readonly remover: Pick<TreeRemover, 'discard'>;
}

/** Creates the worktrees of threads below a directory, beside the workspaces of their sessions. */
export function createThreadWorkspaces(options: ThreadWorkspacesOptions): ThreadWorkspaces {
  const { directory, workspaces, snapshots, directories, git, remover } = options;
  const locks = createLocks();
  const parentOf = (sessionId: string) => threadsOf(join(directory, sessionId));

  const open = async (thread: IsolatedThread): Promise<ThreadWorkspace> =>
    await locks.hold(thread.threadId, async () => {
      const { sessionId, threadId, tree, isNew } = thread;
      const source = await findSource(sessionId);
      const records = createThreadRecords(parentOf(sessionId));
      const record = await records.read(threadId);
      const isThere = record !== undefined && (await isDirectory(pathOf(parentOf(sessionId), threadId)));
      if (isThere && (!isNew || record.tree === tree)) return { path: await realPathOf(thread), branch: record.branch };
      await records.remove(threadId);
      await remover.discard(pathOf(parentOf(sessionId), threadId), { parent: directory, sessionId });
      const branch = await create(thread, source);
      await records.write(threadId, { tree, branch });
      return { path: await realPathOf(thread), branch };
    });

  return {
    open,
    pathOf: (sessionId, threadId) => pathOf(parentOf(sessionId), threadId),
    mountsOf: async (sessionId, threadId) => {
      const found = findThreadGit(directories, await findSource(sessionId), { sessionId, threadId });
      if (found === undefined) return PLAIN_MOUNTS;
      const { privateGit } = found;
      return {
        isWritable: true,
        readOnlyPaths: privateGit.objects,
        writablePaths: [privateGit.path],
        covers: [{ path: pointerOf(parentOf(sessionId), threadId), inside: '.git', isWritable: false }],
      };
    },
    openRecorder: (thread) => snapshots.openThreadRecorder({ ...thread, open: async () => (await open(thread)).path }),
  };

  async function create(thread: IsolatedThread, source: WorkspaceSource): Promise<string | null> {
    const { sessionId, threadId, tree } = thread;
    const found = findThreadGit(directories, source, { sessionId, threadId });
    await mkdir(parentOf(sessionId), { recursive: true, mode: 0o700 });
    const workspace = pathOf(await realpath(parentOf(sessionId)), threadId);
    if (found !== undefined) await forgetThreadWorktree(git, found, workspace);
    await mkdir(workspace, { mode: 0o700 });
    if (found !== undefined) {
      await addThreadWorktree(git, found, workspace);
      await writePointer(found, parentOf(sessionId));
    }
    // No agent can reach the worktree yet.
    await snapshots.writeTree(sessionId, tree, workspace);
    if (source.type === 'repositories') await carryGitDirectories(source, workspace);
    await makeOwnDirectory(workspace);
    await carryUploads(source.workspace, workspace);
    return found?.branch ?? null;
  }

  async function findSource(sessionId: string): Promise<WorkspaceSource> {
    const source = await workspaces.sourceOf(sessionId);
    if (source !== undefined && (source.type === 'repositories' || source.mode !== 'read_only')) return source;
    const problem =
      source === undefined
        ? `${sessionId} has neither a directory nor a repository, so its threads cannot have worktrees of their own`
        : `${sessionId} works on a read-only directory, so its threads cannot have worktrees of their own`;
    const advice = 'leave `isolation` out, or create a session with a directory in mode worktree or copy';
    throw new FleetloomError({ code: 'not_isolatable', kind: 'caller', problem, advice });
  }

  /** The path without symbolic links, because tools compare paths with it and git stores it. */
  async function realPathOf({ sessionId, threadId }: IsolatedThread): Promise<string> {
    return await realpath(pathOf(parentOf(sessionId), threadId));
  }
}

/** The path of a worktree. Thread ids come from this server, but are checked nevertheless, because the path may be removed. */
function pathOf(parent: string, threadId: string): string {
  if (/^sthr_\w+$/.test(threadId)) return join(parent, threadId);
  throw new TypeError(`${threadId} is not a thread id`);
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}
