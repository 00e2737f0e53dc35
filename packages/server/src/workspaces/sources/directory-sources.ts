import type { DirectoryResource } from '@fleetloom/protocol/managed-agents';
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetloomError } from '../../base/errors.ts';
import type { TreeRemover } from '../../base/files/remove-tree.ts';
import { createLocks } from '../../tools/locks.ts';
import { closing, Directory } from '../../tools/workspace/directory.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import type { DirectorySource, SourceRepository, WorkspaceMounts } from '../workspace-source.ts';
import { type AllowedDirectories, isBelow } from './allowed-directories.ts';
import { carryIncluded, carryUncommitted } from './carry-files.ts';
import { copyTree, createCopying } from './copy-tree.ts';
import { findNestedGit } from './find-nested-git.ts';
import { findRepository } from './find-repository.ts';
import type { InPlaceLocks } from './in-place-locks.ts';
import { makeOwnDirectory, removeOwnDirectory } from './own-directory.ts';
import { createPrivateGit, type PrivateGit, toPrivateGit } from './private-git.ts';
import { createRepositoryReader } from './read-repository.ts';
import type { RunSetup } from './run-setup.ts';
import { createSourceRecords, RECORDS, type SourceRecord } from './source-records.ts';
import { toMounts } from './to-mounts.ts';
import { copyUserIndex } from './user-index.ts';
import { addWorktree, forgetWorktree } from './worktree.ts';

/** Creates and removes workspaces that come from directories of this machine. */
export interface DirectorySources {
  /** Creates the workspace unless it exists, and runs its setup command once. */
  prepare(task: DirectoryTask, signal?: AbortSignal): Promise<SourceRecord>;
  /** The path of the workspace. Throws if its setup command has failed. */
  open(task: DirectoryTask): Promise<string>;
  mountsOf(task: DirectoryTask): Promise<WorkspaceMounts>;
  /** The private git directory of a session whose source is in a repository. */
  privateGitOf(sessionId: string, repository: Pick<SourceRepository, 'objects'>): PrivateGit;
  /** Whether this disk has a record of the session. */
  has(sessionId: string): Promise<boolean>;
  /** Removes the files of the session in the user's repository and next to its workspace. */
  remove(sessionId: string): Promise<void>;
}

/** The workspace of one session that is to be created. */
export interface DirectoryTask {
  readonly sessionId: string;
  readonly resource: DirectoryResource;
  /** The path of the workspace, unless the agents work in the user's directory itself. */
  readonly workspace: string;
  /** The directory that contains all workspaces. */
  readonly parent: string;
}

/** The dependencies of {@link createDirectorySources}. */
export interface DirectorySourcesOptions {
  /** The directory for records and private git directories. */
  readonly directory: string;
  /** The data directory of the server, which no copy contains. */
  readonly dataDirectory: string;
  readonly git: RepositoryGit;
  readonly allowed: AllowedDirectories;
  readonly locks: InPlaceLocks;
  readonly runSetup: RunSetup;
  /** The ignore rules of the user of this server for all repositories. */
  readonly readUserRules: () => Promise<string>;
  /** Writes the last recorded files to a workspace that is created again because its directory was removed. */
  readonly rebuildFiles: (sessionId: string, workspace: string) => Promise<void>;
  readonly remover: Pick<TreeRemover, 'discard'>;
}

/** Opens the sources of this disk. */
export function createDirectorySources(options: DirectorySourcesOptions): DirectorySources {
  const { git, allowed, remover } = options;
  const records = createSourceRecords(join(options.directory, RECORDS));
  const gitParent = join(options.directory, PRIVATE_GIT);
  const privateOf = (sessionId: string) => join(gitParent, sessionId);
  const locks = createLocks();

  const prepare = (task: DirectoryTask, signal?: AbortSignal): Promise<SourceRecord> =>
    locks.hold(task.sessionId, async () => {
      const { sessionId, resource } = task;
      if (resource.mode === 'in_place') await options.locks.hold(sessionId, resource.path);
      const found = await records.read(sessionId);
      const isThere = found?.state === 'ready' && (await isDirectory(found.source.workspace));
      if (isThere) await checkStillAllowed(found.source);
      const record = isThere ? found : await create(task, found);
      if (resource.setup === null || record.setup !== null) return record;
      const mounts = await toMounts(record.source, privateOf(sessionId));
      const setup = await options.runSetup({
        command: resource.setup,
        workspace: record.source.workspace,
        mounts,
        signal,
      });
      const done = { ...record, setup };
      await records.write(sessionId, done);
      return done;
    });

  return {
    prepare,
    open: async (task) => {
      const { source, setup } = await prepare(task);
      if (setup !== null && setup.code !== 0) throw setupFailed(setup.command, setup.code, setup.output);
      return source.workspace;
    },
    mountsOf: async (task) => toMounts((await prepare(task)).source, privateOf(task.sessionId)),
    privateGitOf: (sessionId, repository) => toPrivateGit(privateOf(sessionId), repository),
    has: async (sessionId) => (await records.read(sessionId)) !== undefined,
    remove: (sessionId) =>
      locks.hold(sessionId, async () => {
        const record = await records.read(sessionId);
        if (record !== undefined) await undo(sessionId, record);
        await options.locks.release(sessionId);
        await records.remove(sessionId);
      }),
  };

  /** Creates a workspace. The record is written first, so that a crash leaves no unknown files. */
  async function create(task: DirectoryTask, before: SourceRecord | undefined): Promise<SourceRecord> {
    const { sessionId, parent } = task;
    if (before !== undefined) {
      await undo(sessionId, before);
      if (before.source.workspace === task.workspace) await remover.discard(task.workspace, { parent, sessionId });
    }
    const source = await describe(task);
    const record: SourceRecord = { state: 'creating', source, setup: null };
    await records.write(sessionId, record);
    try {
      await fill(task, source);
      // The real path can be resolved only now, because its parents exist.
      const ready = {
        ...record,
        state: 'ready' as const,
        source: { ...source, workspace: await realpath(source.workspace) },
      };
      await records.write(sessionId, ready);
      return ready;
    } catch (error) {
      await undo(sessionId, record);
      if (source.workspace === task.workspace) await remover.discard(task.workspace, { parent, sessionId });
      await records.remove(sessionId);
      throw error;
    }
  }

  async function describe({ resource, workspace, parent }: DirectoryTask): Promise<DirectorySource> {
    const { path, mode, commit, branch } = resource;
    await checkStillAllowed({ path });
    const place = mode === 'copy' ? undefined : await findRepository(path, allowed);
    if (mode === 'worktree' && place === undefined) throw unusable(`${path} is not in a git repository any more`);
    const reader = place === undefined ? undefined : createRepositoryReader(git, place);
    const repository: SourceRepository | null =
      place === undefined || reader === undefined
        ? null
        : { ...place, objectFormat: await reader.objectFormat(), base: commit, branch };
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const isOwn = mode === 'worktree' || mode === 'copy';
    // The real path, because git stores it.
    const own = join(await realpath(parent), workspace.slice(parent.length + 1));
    const nestedGit = isOwn ? undefined : await findNestedGit(path);
    return { type: 'directory', mode, path, workspace: isOwn ? own : path, repository, nestedGit };
  }

  async function fill({ sessionId, resource, parent }: DirectoryTask, source: DirectorySource): Promise<void> {
    const { mode, workspace, repository } = source;
    if (repository !== null) {
      const privateGit = toPrivateGit(privateOf(sessionId), repository);
      await createPrivateGit(privateGit, repository, createRepositoryReader(git, repository));
      if (mode === 'worktree') {
        await addWorktree({ git, repository, workspace, privateGit });
        const isHidden = await hides(repository.top, parent);
        const { readUserRules } = options;
        const carrying = { git, repository, workspace, privateGit, isHidden, readUserRules };
        if (resource.include_uncommitted) await carryUncommitted(carrying);
        await carryIncluded(carrying, resource.copy);
      } else await copyUserIndex({ git, repository, privateGit }, join(privateGit.path, 'index'));
    }
    if (mode === 'copy') await copyAll(source, parent);
    if (mode === 'copy' || mode === 'worktree') await options.rebuildFiles(sessionId, workspace);
    if (mode !== 'read_only') await makeOwnDirectory(workspace);
  }

  async function copyAll({ path, workspace }: DirectorySource, parent: string): Promise<void> {
    await mkdir(workspace, { recursive: true, mode: 0o700 });
    const isHidden = await hides(path, parent);
    const copying = createCopying((inside) => inside === '.fleetloom' || isHidden(inside));
    await closing(await Directory.openRoot(path), async (from) => {
      await closing(await Directory.openRoot(workspace), (to) => copyTree(from, to, copying));
    });
  }

  /** Returns the test whether a path below `directory` is in a directory in which this server stores files. */
  async function hides(directory: string, parent: string): Promise<(inside: string) => boolean> {
    const hidden = [options.dataDirectory, options.directory, parent];
    const real = await Promise.all(hidden.map((path) => realpath(path).catch(() => path)));
    return (inside) => real.some((data) => isBelow(join(directory, inside), data));
  }

  /** Removes everything that a creation, even an incomplete one, has left. */
  async function undo(sessionId: string, { source }: SourceRecord): Promise<void> {
    const { mode, path, workspace, repository } = source;
    if (mode === 'worktree' && repository !== null && (await isStill(repository.commonDirectory))) {
      await forgetWorktree(git, { repository, workspace });
    }
    if (mode === 'in_place' && (await isStill(path))) await removeOwnDirectory(path);
    await rm(privateOf(sessionId), { recursive: true, force: true });
  }

  /** Throws unless the directory is still the one that was allowed, because agents may work in it directly. */
  async function checkStillAllowed({ path }: Pick<DirectorySource, 'path'>): Promise<void> {
    if ((await isStill(path)) && (await allowed.has(path))) return;
    throw unusable(`${path} was moved, or is not in a directory that this server allows any more`);
  }
}

const PRIVATE_GIT = 'workspaces-git';

/** Whether a path is still a real path: a part of it may have been replaced by a link. */
async function isStill(path: string): Promise<boolean> {
  return (await realpath(path).catch(() => undefined)) === path;
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function unusable(problem: string): FleetloomError {
  const advice = 'create a session with another directory';
  return new FleetloomError({ code: 'workspace_failed', kind: 'caller', problem, advice });
}

function setupFailed(command: string, code: number | null, output: string): FleetloomError {
  const end = code === null ? 'was stopped' : `ended with exit code ${code}`;
  const last = output.trim().split('\n').at(-1) ?? '';
  return new FleetloomError({
    code: 'setup_failed',
    kind: 'caller',
    problem: `the setup command \`${command}\` ${end}${last === '' ? '' : ` (${last})`}`,
    advice: 'correct the command, and create another session',
  });
}
