import type { DirectoryResource, MountedResource } from '@fleetloom/protocol/managed-agents';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeRemover } from '../base/files/remove-tree.ts';
import { OUTPUTS_PATH, toInside } from '../tools/workspace/session-paths.ts';
import type { DirectorySources } from './sources/directory-sources.ts';
import {
  PLAIN_MOUNTS,
  type RepositoriesSource,
  type SetupResult,
  type WorkspaceMounts,
  type WorkspaceSource,
} from './workspace-source.ts';

/** The directories in which the agents of a session work, one for each session. */
export interface Workspaces {
  /**
   * Creates the workspace if it does not exist, from its source if it has one, and returns its real path. Throws a
   * `FleetloomError` if that is not possible, or if its setup command has failed.
   */
  open(sessionId: string): Promise<string>;
  /** Like `open`, but returns the result of a failed setup command instead of throwing. */
  prepare(sessionId: string, signal?: AbortSignal): Promise<PreparedWorkspace>;
  /** The mounts of the sandbox of a session in addition to the workspace. Opens the workspace. */
  mountsOf(sessionId: string): Promise<WorkspaceMounts>;
  /** The source of the files; undefined for a session without a source. Opens the workspace. */
  sourceOf(sessionId: string): Promise<WorkspaceSource | undefined>;
  /** The path of the workspace, even before it is created. Does not open it. */
  pathOf(sessionId: string): Promise<string>;
  has(sessionId: string): Promise<boolean>;
  /** Removes the workspace. Resolves when it is out of reach; its files are deleted in the background. */
  remove(sessionId: string): Promise<void>;
}

/** A workspace that agents can work in, unless its setup command has failed. */
export interface PreparedWorkspace {
  readonly path: string;
  /** The result of the setup command, even if it ran earlier; null if there is none. */
  readonly setup: SetupResult | null;
}

/** The dependencies of {@link createWorkspaces}. */
export interface WorkspacesOptions {
  /** The directory that contains the workspaces. */
  readonly directory: string;
  readonly remover: Pick<TreeRemover, 'discard'>;
  /** The sources of sessions that work on directories of this machine. */
  readonly sources?: WorkspaceSources | undefined;
}

/** The sources of sessions. */
export interface WorkspaceSources {
  /** Lists the resources of a session. */
  readonly listResources: (sessionId: string) => Promise<readonly MountedResource[]>;
  readonly directories: DirectorySources;
}

/** Creates workspaces below a directory. */
export function createWorkspaces({ directory, remover, sources }: WorkspacesOptions): Workspaces {
  const pathOf = (sessionId: string) => join(directory, checked(sessionId));
  const findSource = createSourceFinder(sources);

  const prepare = async (sessionId: string, signal?: AbortSignal): Promise<PreparedWorkspace> => {
    const resource = await findSource(sessionId);
    if (resource === null) return { path: await openPlain(pathOf(sessionId)), setup: null };
    const { source, setup } = await sources!.directories.prepare(toTask(sessionId, resource), signal);
    return { path: source.workspace, setup };
  };
  const toTask = (sessionId: string, resource: DirectoryResource) => {
    return { sessionId, resource, workspace: pathOf(sessionId), parent: directory };
  };

  return {
    prepare,
    open: async (sessionId) => {
      const resource = await findSource(sessionId);
      if (resource === null) return await openPlain(pathOf(sessionId));
      return await sources!.directories.open(toTask(sessionId, resource));
    },
    mountsOf: async (sessionId) => {
      const resource = await findSource(sessionId);
      return resource === null ? PLAIN_MOUNTS : await sources!.directories.mountsOf(toTask(sessionId, resource));
    },
    sourceOf: async (sessionId) => {
      const resource = await findSource(sessionId);
      if (resource !== null) return (await sources!.directories.prepare(toTask(sessionId, resource))).source;
      const repositories = toRepositories((await sources?.listResources(sessionId)) ?? []);
      if (repositories.length === 0) return undefined;
      return { type: 'repositories', workspace: await openPlain(pathOf(sessionId)), repositories };
    },
    pathOf: async (sessionId) => {
      const resource = await findSource(sessionId);
      const isInPlace = resource?.mode === 'in_place' || resource?.mode === 'read_only';
      return isInPlace ? resource.path : pathOf(sessionId);
    },
    has: async (sessionId) => {
      const found = await stat(pathOf(sessionId)).catch(() => undefined);
      return found?.isDirectory() === true || ((await sources?.directories.has(sessionId)) ?? false);
    },
    remove: async (sessionId) => {
      await remover.discard(threadsOf(pathOf(sessionId)), { parent: directory, sessionId });
      await sources?.directories.remove(sessionId);
      await remover.discard(pathOf(sessionId), { parent: directory, sessionId });
    },
  };
}

/** The directory with the worktrees of the threads of a session, beside its workspace. */
export function threadsOf(workspace: string): string {
  return `${workspace}.threads`;
}

function toRepositories(resources: readonly MountedResource[]): RepositoriesSource['repositories'] {
  return resources.flatMap((resource) => {
    const isRepository = resource.type === 'github_repository' || resource.type === 'git_repository';
    return isRepository ? [{ mountPath: resource.mount_path, url: resource.url }] : [];
  });
}

/** Creates a cached look-up of sources, which do not change after a session is created. */
function createSourceFinder(sources: WorkspaceSources | undefined) {
  const found = new Map<string, DirectoryResource | null>();
  return async (sessionId: string): Promise<DirectoryResource | null> => {
    if (sources === undefined) return null;
    const known = found.get(sessionId);
    if (known !== undefined) return known;
    const resources = await sources.listResources(sessionId);
    const resource = resources.find((each) => each.type === 'directory') ?? null;
    if (found.size >= FOUND_MAX) found.clear();
    found.set(sessionId, resource);
    return resource;
  };
}

const FOUND_MAX = 10_000;

async function openPlain(path: string): Promise<string> {
  const isNew = (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined;
  // Creates the directory of outputs only in a new workspace: later an agent may have replaced a part of the path by a link.
  if (isNew) await mkdir(join(path, toInside(OUTPUTS_PATH)!), { recursive: true, mode: 0o700 });
  // Tools compare paths with the result, so it must not contain symbolic links.
  return realpath(path);
}

/** Throws unless the id is valid. Session ids come from this server, but are checked, because a path made from one may be removed. */
function checked(sessionId: string): string {
  if (/^sesn_\w+$/.test(sessionId)) return sessionId;
  throw new TypeError(`${sessionId} is not a session id`);
}
