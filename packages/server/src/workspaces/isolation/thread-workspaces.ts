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
  /** Creates the worktree of a thread unless it is there. Throws a `FleetloomError` where that is not possible. */
  open(thread: IsolatedThread): Promise<ThreadWorkspace>;
  /** Where the worktree of a thread is, or would be. */
  pathOf(sessionId: string, threadId: string): string;
  /** What the sandbox of the thread has beside its worktree, which was opened before. */
  mountsOf(sessionId: string, threadId: string): Promise<WorkspaceMounts>;
  /** The recorder of its files. Opens the worktree. */
  openRecorder(thread: IsolatedThread): WorkspaceRecorder;
}

/** A thread with a worktree of its own. */
export interface IsolatedThread {
  readonly sessionId: string;
  readonly threadId: string;
  /** The files that its worktree has to have if it is made: those that it begins with, or that were recorded last. */
  readonly tree: string;
  /** The log does not have the worktree yet: one that is there and began with another tree was left by a crash. */
  readonly isNew: boolean;
}

/** The worktree of a thread. */
export interface ThreadWorkspace {
  readonly path: string;
  /** Its branch in the git directory of the session; null without a repository. */
  readonly branch: string | null;
}

/** What worktrees of threads need. */
export interface ThreadWorkspacesOptions {
  /** The workspaces are below it. */
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
    // No agent can reach it yet.
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

  /** Tools compare paths with it, and git writes it down, so no symbolic link may be left in it. */
  async function realPathOf({ sessionId, threadId }: IsolatedThread): Promise<string> {
    return await realpath(pathOf(parentOf(sessionId), threadId));
  }
}

/** Thread ids come from this server. They are checked nevertheless, because a wrong path would be removed. */
function pathOf(parent: string, threadId: string): string {
  if (/^sthr_\w+$/.test(threadId)) return join(parent, threadId);
  throw new TypeError(`${threadId} is not a thread id`);
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}
