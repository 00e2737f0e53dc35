import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetloomError } from '../base/errors.ts';
import type { TreeRemover } from '../base/files/remove-tree.ts';
import type { Report } from '../base/in-background.ts';
import type { ResourceStore } from '../files/resource-store.ts';
import type { SessionResources } from '../files/session-resources.ts';
import type { Store } from '../store/store.ts';
import { findProgram } from '../tools/find-program.ts';
import { openBubblewrap } from '../tools/sandbox/bubblewrap.ts';
import type { SandboxState } from '../tools/sandbox/sandbox.ts';
import { type Changes, type ChangesOwner, createChanges } from '../workspaces/changes/changes.ts';
import { createHistory } from '../workspaces/changes/history.ts';
import { rebuildFiles } from '../workspaces/changes/rebuild-files.ts';
import { createThreadWorkspaces, type ThreadWorkspaces } from '../workspaces/isolation/thread-workspaces.ts';
import { createGitFinder } from '../workspaces/git/find-git.ts';
import { createOwnGit } from '../workspaces/git/own-git.ts';
import { createRepositoryGit, type RepositoryGit } from '../workspaces/git/repository-git.ts';
import { createAllowedDirectories, isBelow } from '../workspaces/sources/allowed-directories.ts';
import { createDirectorySources } from '../workspaces/sources/directory-sources.ts';
import { createInPlaceLocks } from '../workspaces/sources/in-place-locks.ts';
import { createMachineLocks } from '../workspaces/sources/machine-locks.ts';
import { RECORDS, toRecordFile } from '../workspaces/sources/source-records.ts';
import { createSetupRunner } from '../workspaces/sources/run-setup.ts';
import type { RepositorySources } from '../workspaces/repository-sources.ts';
import { createSessionSources, type SessionSources } from '../workspaces/sources/session-sources.ts';
import { snapshotLimits } from '../workspaces/snapshots/objects/limits.ts';
import type { SnapshotBackups } from '../workspaces/snapshots/snapshot-backups.ts';
import { createSnapshots, type Snapshots } from '../workspaces/snapshots/snapshots.ts';
import { findUserHome, readUserRules } from '../workspaces/snapshots/user-rules.ts';
import { createWorkspaces, type Workspaces } from '../workspaces/workspaces.ts';

/** The operator's options for workspaces. */
export interface WorkspaceServerOptions {
  /** Directories below which sessions may work on files of this machine. Default: none. */
  readonly allowedDirectories?: readonly string[] | undefined;
  /** Lets commands run without a sandbox on machines where no sandbox is available. */
  readonly allowUnsandboxedBash?: boolean | undefined;
  /** Bytes of a recorded file; larger files are not recorded. Default: 10 MiB; at most 100 MiB. */
  readonly snapshotFileBytesMax?: number | undefined;
}

/** The parts that the workspaces of a server need. */
export interface OpenWorkspacesOptions extends WorkspaceServerOptions {
  readonly store: Pick<Store, 'documents' | 'sessions' | 'threads' | 'read' | 'now'>;
  readonly dataDirectory: string;
  /** The parent directory of the workspaces. */
  readonly directory: string;
  /** The directory of the state of workspaces. */
  readonly stateDirectory: string;
  readonly resourceStore: ResourceStore;
  readonly repositorySources: RepositorySources;
  readonly remover: Pick<TreeRemover, 'discard' | 'resume'>;
  /** Set if sessions may be continued on another node. */
  readonly backups?: SnapshotBackups | undefined;
  readonly openSandbox?: (() => Promise<SandboxState>) | undefined;
  /** The home directory of the user whose ignore rules apply. Default: the home of the user of this process. */
  readonly userHome?: string | undefined;
  /** Changes how git is run on repositories. */
  readonly wrapGit?: ((git: RepositoryGit) => RepositoryGit) | undefined;
}

/** The workspaces of a server, and the check of the sources of new ones. */
export interface OpenedWorkspaces {
  readonly workspaces: Workspaces;
  /** The recorded files of sessions. */
  readonly snapshots: Snapshots;
  /** The worktrees of threads that do not work in the workspace of their session. */
  readonly threadWorkspaces: ThreadWorkspaces;
  /** Creates the API for changes in the workspaces on this disk. */
  readonly toChanges: (owner: ChangesOwner) => Changes;
  readonly toSources: (
    resources: Pick<SessionResources, 'addSource'>,
    settle?: (sessionId: string) => Promise<void>,
  ) => SessionSources;
  /** When a server starts: finishes removals, restores files that a killed process was writing, and takes over its in-place locks. */
  readonly resume: (onProblem: Report) => Promise<void>;
  /** Releases the directories for other servers of this machine. */
  readonly close: () => Promise<void>;
}

/** The directory of the snapshot repositories, in the data directory. */
export const SNAPSHOTS = 'snapshots';

/** Opens the workspaces of a server. */
export function openWorkspaces(options: OpenWorkspacesOptions): OpenedWorkspaces {
  const { store, directory, stateDirectory, resourceStore, repositorySources: repositories, remover } = options;
  // The directory exists: the server has prepared it.
  const dataDirectory = realpathSync(options.dataDirectory);
  const { openSandbox = () => openBubblewrap({ findProgram }), wrapGit = (plain) => plain } = options;
  const findGit = createGitFinder();
  const ownGit = createOwnGit(findGit);
  const plain = createRepositoryGit(findGit, async () => {
    const state = await openSandbox();
    return state.type === 'ready' ? state.sandbox : undefined;
  });
  const git = wrapGit(plain);
  const allowed = createAllowedDirectories(options.allowedDirectories ?? [], dataDirectory);
  const recordOf = (sessionId: string) => toRecordFile(join(stateDirectory, RECORDS), sessionId);
  const locks = createInPlaceLocks(store, { machineLocks: createMachineLocks({ dataDirectory, recordOf }) });
  const runSetup = createSetupRunner({ openSandbox, allowsUnsandboxed: options.allowUnsandboxedBash ?? false });
  const readHistory = createHistory(store);
  const directories = createDirectorySources({
    directory: stateDirectory,
    dataDirectory,
    git,
    allowed,
    locks,
    runSetup,
    readUserRules: () => readUserRules(ownGit, findUserHome(options.userHome)),
    rebuildFiles: (sessionId, workspace) => rebuildFiles({ readHistory, snapshots }, sessionId, workspace),
    remover,
  });
  const listResources = (sessionId: string) => resourceStore.read(sessionId);
  const isSandboxed = async () => (await openSandbox()).type === 'ready';
  const workspaces = createWorkspaces({ directory, remover, sources: { listResources, directories } });
  const snapshots = createSnapshots({
    git: ownGit,
    directory: join(stateDirectory, SNAPSHOTS),
    workspaces,
    remover,
    backups: options.backups,
    fileBytesMax: checkFileBytes(options.snapshotFileBytesMax),
  });
  const threadWorkspaces = createThreadWorkspaces({ directory, workspaces, snapshots, directories, git, remover });
  return {
    workspaces,
    snapshots,
    threadWorkspaces,
    resume: async (onProblem) => {
      const canWrite = async (path: string) => {
        if ((await realpath(path).catch(() => undefined)) !== path) return false;
        return isBelow(path, await realpath(directory).catch(() => directory)) || (await allowed.has(path));
      };
      // If workspaces are shared, another node may do the same at the same time, which is harmless.
      await remover.resume(directory);
      await remover.resume(join(stateDirectory, SNAPSHOTS));
      await snapshots.undoInterrupted({ canWrite, onProblem });
      await locks.resume();
    },
    close: () => locks.close(),
    toChanges: (owner) =>
      createChanges({
        store,
        snapshots,
        workspaces,
        threads: threadWorkspaces,
        listResources,
        git,
        allowed,
        owner,
      }),
    toSources: (resources, settle) =>
      createSessionSources({ git, allowed, dataDirectory, isSandboxed, resources, repositories, locks, settle }),
  };
}

function checkFileBytes(bytes: number | undefined): number | undefined {
  const { fileBytesAtMost } = snapshotLimits;
  if (bytes === undefined || (Number.isInteger(bytes) && bytes >= 1 && bytes <= fileBytesAtMost)) return bytes;
  throw new FleetloomError({
    code: 'snapshot_limit_invalid',
    kind: 'caller',
    problem: `${bytes} bytes is not a size of files that can be recorded`,
    advice: `use a whole number from 1 to ${fileBytesAtMost}`,
  });
}
