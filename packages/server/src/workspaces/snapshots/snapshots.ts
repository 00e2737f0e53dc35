import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FleetloomError } from '../../base/errors.ts';
import type { TreeRemover } from '../../base/files/remove-tree.ts';
import { makePrivateDirectory } from '../../base/files/private-files.ts';
import { createGitSlots } from '../git/git-slots.ts';
import type { Git } from '../git/run-git.ts';
import type { Workspaces } from '../workspaces.ts';
import { copyRepository } from './copy-repository.ts';
import { diffTrees, type DiffOptions, type FileChange, unifiedDiff, type UnifiedDiffOptions } from './diff-trees.ts';
import { findItem } from './objects/find-item.ts';
import { MissingObject } from './objects/missing-object.ts';
import { SUBMODULE_MODE } from './objects/tree-objects.ts';
import { listTree, type TreeEntry } from './list-tree.ts';
import { mergeTrees, type MergeOutcome, type MergeRequest } from './merge-trees.ts';
import { toBytePath } from './objects/path-text.ts';
import { recordDirectory, type RecordDirectoryOptions } from './record-directory.ts';
import { createRecorder, type WorkspaceRecorder } from './recorder.ts';
import { SnapshotRepository } from './objects/snapshot-repository.ts';
import type { SnapshotBackups } from './snapshot-backups.ts';
import { undoLeftWrites, type UndoOptions } from './write/undo-left-writes.ts';
import { type WriteTreeOptions, writeTree } from './write-tree.ts';

/** The recorded files of all sessions. A tree is named by its id, as in the frames `workspace.*`. */
export interface Snapshots {
  /** The recorder of a session, for its owner. `tree`: the tree of its last frame; null before the first frame. */
  openRecorder(sessionId: string, tree: string | null, opened?: string | null): WorkspaceRecorder;
  /** The recorder of a thread with a worktree of its own. The workspace of the session was recorded before. */
  openThreadRecorder(thread: RecordedThread): WorkspaceRecorder;
  /** The files that differ between two trees, sorted by path. A renamed file is deleted and added. */
  diffTrees(sessionId: string, from: string, to: string, options?: DiffOptions): Promise<FileChange[]>;
  /** The diff of one file as `git diff` prints it, empty if it does not differ. Undefined if it is too large. */
  unifiedDiff(
    sessionId: string,
    from: string,
    to: string,
    path: string,
    options?: UnifiedDiffOptions,
  ): Promise<string | undefined>;
  /** The files of a tree, sorted by path. */
  listTree(sessionId: string, tree: string): AsyncIterable<TreeEntry>;
  /** The content of a file, or the target of a symbolic link. Undefined if the tree has no such file. */
  readFile(sessionId: string, tree: string, path: string): Promise<Readable | undefined>;
  /**
   * Writes the files of a tree to a directory. With `from`, writes only differences between that tree and this one, and removes files that
   * this one does not have.
   */
  writeTree(sessionId: string, tree: string, directory: string, options?: WriteTreeOptions): Promise<void>;
  /** Records any directory as a tree, such as the user's working tree before changes are applied to it. */
  recordDirectory(sessionId: string, directory: string, options?: RecordDirectoryOptions): Promise<string>;
  mergeTrees(sessionId: string, request: MergeRequest): Promise<MergeOutcome>;
  /** Copies the recorded files of the origin to a forked session. The files of the tree are written when the fork's workspace is opened. */
  copyTo(fromSessionId: string, toSessionId: string, tree: string): Promise<void>;
  /** Removes the recorded files of a session. Resolves when they are out of reach; they are deleted in the background. */
  remove(sessionId: string): Promise<void>;
  /** Called when a server starts: sets back files that a process was writing when it was killed, and reports that. */
  undoInterrupted(options: Omit<UndoOptions, 'fileBytesMax'>): Promise<void>;
  /** A reader for a request: rejects while too many processes wait, and stops its processes on the signal. */
  forRequest(signal?: AbortSignal): SnapshotReader;
  /** The snapshot repository of a session, to apply changes. */
  repositoryOf(sessionId: string): Promise<SnapshotRepository>;
}

/** Reads recorded files. */
export type SnapshotReader = Pick<Snapshots, 'diffTrees' | 'listTree' | 'readFile' | 'repositoryOf' | 'unifiedDiff'>;

/** A thread whose own worktree is recorded. */
export interface RecordedThread {
  readonly sessionId: string;
  readonly threadId: string;
  /** The tree that the worktree begins with, or that was recorded last. */
  readonly tree: string;
  /** Creates the worktree unless it exists, and returns its path. */
  readonly open: () => Promise<string>;
}

/** The dependencies of {@link createSnapshots}. */
export interface SnapshotsOptions {
  readonly git: Git;
  /** The directory with one repository for each session with a source. */
  readonly directory: string;
  readonly workspaces: Pick<Workspaces, 'prepare' | 'sourceOf'>;
  readonly remover: Pick<TreeRemover, 'discard'>;
  /** Present if sessions may continue on another node. */
  readonly backups?: SnapshotBackups | undefined;
  /** Bytes of a file. Larger files are not recorded. */
  readonly fileBytesMax?: number | undefined;
}

/** Creates the snapshot store. */
export function createSnapshots({ git, directory, workspaces, remover, ...options }: SnapshotsOptions): Snapshots {
  const { backups, fileBytesMax } = options;
  const pathOf = (sessionId: string) => join(directory, checked(sessionId));
  const slots = createGitSlots(git);
  const openWith = async (sessionId: string, run: Git): Promise<SnapshotRepository> => {
    const found = await SnapshotRepository.open(run, pathOf(sessionId), fileBytesMax);
    if (found !== undefined) return found;
    throw new FleetloomError({
      code: 'no_snapshots',
      kind: 'caller',
      problem: `no files of ${sessionId} are recorded`,
      advice: 'create the session with a directory or a repository in `resources`',
    });
  };
  const find = async (sessionId: string) => await openWith(sessionId, slots.patient);
  return {
    ...createReader(find),
    forRequest: (signal) => createReader(async (sessionId) => await openWith(sessionId, slots.forRequest(signal))),
    // Not limited by slots: a session runs one record at a time, which must not wait for readers.
    openRecorder: (sessionId, tree, opened) =>
      createRecorder({
        opened,
        git,
        tree,
        prepare: async () => {
          const { setup } = await workspaces.prepare(sessionId);
          const source = await workspaces.sourceOf(sessionId);
          return source === undefined ? undefined : { source, setup };
        },
        backUp: backups && ((repository, recorded) => backups.save(repository, sessionId, recorded)),
        create: async (parts) => {
          await makePrivateDirectory(directory);
          await backups?.restore(git, sessionId, pathOf(sessionId));
          return await SnapshotRepository.create(git, pathOf(sessionId), { ...parts, fileBytesMax });
        },
      }),
    openThreadRecorder: ({ sessionId, threadId, tree, open }) =>
      createRecorder({
        git,
        tree,
        indexName: `thread-${threadId}`,
        prepare: async () => {
          const path = await open();
          const source = { type: 'directory', mode: 'copy', path, workspace: path, repository: null } as const;
          return { source, setup: null };
        },
        create: async () => await openWith(sessionId, git),
      }),
    writeTree: async (sessionId, tree, target, options) =>
      await writeTree(await find(sessionId), tree, target, options),
    recordDirectory: async (sessionId, target, options) =>
      await recordDirectory(await find(sessionId), target, options),
    mergeTrees: async (sessionId, request) => await mergeTrees(await find(sessionId), request),
    copyTo: async (fromSessionId, toSessionId, tree) =>
      await copyRepository(await find(fromSessionId), pathOf(toSessionId), tree),
    undoInterrupted: async (undo) => await undoLeftWrites(git, directory, { ...undo, fileBytesMax }),
    remove: async (sessionId) => await remover.discard(pathOf(sessionId), { parent: directory, sessionId }),
  };
}

function createReader(find: (sessionId: string) => Promise<SnapshotRepository>): SnapshotReader {
  return {
    repositoryOf: find,
    diffTrees: async (sessionId, from, to, options) => await diffTrees(await find(sessionId), from, to, options),
    unifiedDiff: async (sessionId, from, to, path, options) =>
      await unifiedDiff(await find(sessionId), from, to, path, options),
    listTree: async function* (sessionId, tree) {
      yield* listTree(await find(sessionId), tree);
    },
    readFile: async (sessionId, tree, path) => {
      const repository = await find(sessionId);
      const item = await findItem(repository, tree, toBytePath(path));
      if (item === undefined) return undefined;
      const [object] = await repository.read([item.object]);
      if (object === undefined && item.mode !== SUBMODULE_MODE) throw new MissingObject(item.object);
      return object?.type === 'blob' ? Readable.from([object.content]) : undefined;
    },
  };
}

/** Throws unless the id is valid. Session ids come from this server, but are checked, because a path made from one may be removed. */
function checked(sessionId: string): string {
  if (/^sesn_\w+$/.test(sessionId)) return sessionId;
  throw new TypeError(`${sessionId} is not a session id`);
}
