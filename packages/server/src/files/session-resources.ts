import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import type {
  FileMetadata,
  FileResource,
  FileResourceParams,
  MountedResource,
  SourceResource,
} from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { fileLimits } from './limits.ts';
import { createLocks } from '../tools/locks.ts';
import { putSessionFile, removeSessionFile } from '../tools/workspace/session-files.ts';
import { OUTPUTS_PATH, SESSION_PATHS, toInside, UPLOADS_PATH } from '../tools/workspace/session-paths.ts';
import { ToolFailure } from '../tools/tool-failure.ts';
import { requestError } from '../base/request-error.ts';
import type { FileStore } from './file-store.ts';
import type { ResourceStore } from './resource-store.ts';

/**
 * The resources of a session: the source of its workspace, and files mounted for its agents. Mounted files are copies, so that
 * agents cannot change the original.
 */
export interface SessionResources {
  list(sessionId: string): Promise<readonly MountedResource[]>;
  /** The resources of many sessions at once. Sessions without resources may be absent. */
  listAll(sessionIds: readonly string[]): Promise<ReadonlyMap<string, readonly MountedResource[]>>;
  /** Adds the source of the workspace of a new session. It stays for the lifetime of the session. */
  addSource<Source extends SourceResource>(
    sessionId: string,
    source: Omit<Source, 'id' | 'created_at' | 'updated_at'>,
  ): Promise<Source>;
  /** Updates `updated_at`, after the token of a repository was replaced. Undefined if the resource does not exist. */
  touch(sessionId: string, id: string): Promise<MountedResource | undefined>;
  /** Adds files: all of them or none. */
  add(at: ResourcesAt, params: readonly FileResourceParams[]): Promise<readonly FileResource[]>;
  /** Deletes a resource and its copy. False if it does not exist. */
  delete(sessionId: string, id: string): Promise<boolean>;
  /** Removes the resources of a deleted session. */
  forget(sessionId: string): Promise<void>;
}

/** A session and its workspace. */
export interface ResourcesAt {
  readonly workspaceId: string;
  readonly sessionId: string;
}

export interface SessionResourcesOptions {
  readonly resourceStore: ResourceStore;
  readonly files: Pick<FileStore, 'find' | 'content'>;
  readonly mounts: Mounts;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Copies files into workspaces, and removes the copies. */
export interface Mounts {
  /** Records which files are about to be mounted, so that a crash leaves no unknown file. Returns a function that removes the record. */
  begin?(sessionId: string, resources: readonly FileResource[]): Promise<() => Promise<void>>;
  put(sessionId: string, resource: FileResource, open: () => Readable): Promise<void>;
  remove(sessionId: string, resource: FileResource): Promise<void>;
  /** Removes data about a resource whose session and workspace are deleted. */
  forget?(resource: FileResource): Promise<void>;
}

/** Creates the service; changes of one session are applied one after the other. */
export function createSessionResources(options: SessionResourcesOptions): SessionResources {
  const { resourceStore, files, mounts, clock, ids } = options;
  const locks = createLocks();

  return {
    list: (sessionId) => resourceStore.read(sessionId),

    listAll: (sessionIds) => resourceStore.readAll(sessionIds),

    addSource: async <Source extends SourceResource>(
      sessionId: string,
      source: Omit<Source, 'id' | 'created_at' | 'updated_at'>,
    ) => {
      const now = new Date(clock.now()).toISOString();
      // The cast: the compiler cannot see that the omitted fields are added here.
      const added = { ...source, id: ids.next('sesrsc'), created_at: now, updated_at: now } as Source;
      await resourceStore.change(sessionId, async (before) => [...before, added]);
      return added;
    },

    touch: (sessionId, id) =>
      locks.hold(sessionId, async () => {
        let touched: MountedResource | undefined;
        await resourceStore.change(sessionId, async (known) => {
          const found = known.find((resource) => resource.id === id);
          touched = found && { ...found, updated_at: new Date(clock.now()).toISOString() };
          return known.map((resource) => (resource.id === id ? (touched ?? resource) : resource));
        });
        return touched;
      }),

    add: ({ workspaceId, sessionId }, params) =>
      locks.hold(sessionId, async () => {
        const planned = await plan(workspaceId, await resourceStore.read(sessionId), params);
        const now = new Date(clock.now()).toISOString();
        const added = planned.map(({ file_id, mount_path }): FileResource => {
          return { type: 'file', id: ids.next('sesrsc'), file_id, mount_path, created_at: now, updated_at: now };
        });
        const isDone = await mounts.begin?.(sessionId, added);
        const done: FileResource[] = [];
        try {
          for (const resource of added) {
            await mounts.put(sessionId, resource, () => files.content(resource.file_id));
            done.push(resource);
          }
          await resourceStore.change(sessionId, async (before) => {
            await plan(
              workspaceId,
              before,
              planned.map((each) => ({ type: 'file' as const, ...each })),
            );
            return [...before, ...added];
          });
        } catch (error) {
          // The caller receives the first error; copies that cannot be removed now are removed with the session.
          for (const resource of done) await mounts.remove(sessionId, resource).catch(() => undefined);
          throw error;
        }
        await isDone?.();
        return added;
      }),

    delete: (sessionId, id) =>
      locks.hold(sessionId, async () => {
        const gone = (await resourceStore.read(sessionId)).find((resource) => resource.id === id);
        if (gone === undefined) return false;
        if (gone.type !== 'file') throw attached(gone);
        await mounts.remove(sessionId, gone);
        await resourceStore.change(sessionId, async (known) => known.filter((resource) => resource.id !== id));
        return true;
      }),

    forget: (sessionId) =>
      locks.hold(sessionId, async () => {
        for (const resource of filesOf(await resourceStore.read(sessionId))) await mounts.forget?.(resource);
        await resourceStore.remove(sessionId);
      }),
  };

  async function plan(workspaceId: string, before: readonly MountedResource[], params: readonly FileResourceParams[]) {
    checkWritable(before, params);
    if (before.length + params.length > fileLimits.sessionResourcesMax) {
      const problem = `resources: a session has at most ${fileLimits.sessionResourcesMax}`;
      throw requestError('invalid_request', problem, { advice: 'delete resources that it does not need' });
    }
    const taken = new Set(before.map(({ mount_path }) => mount_path));
    const planned: { readonly file_id: string; readonly mount_path: string }[] = [];
    for (const { file_id, mount_path: asked } of params) {
      const file = await files.find(workspaceId, file_id);
      if (file === undefined) throw requestError('unknown_id', `${file_id} does not exist`);
      const mount_path = asked === undefined || asked === null ? toOwnPath(file, taken) : toMountPath(asked);
      if (isGitPath(mount_path) && before.some((each) => each.type === 'directory')) {
        const advice = 'choose a path outside of .git';
        throw requestError('invalid_request', `mount_path: ${mount_path} is in a git directory`, { advice });
      }
      if (taken.has(mount_path)) {
        const advice = 'give each file a mount_path of its own';
        throw requestError('invalid_request', `mount_path: ${mount_path} is taken`, { advice });
      }
      checkOutside(mount_path, before);
      taken.add(mount_path);
      planned.push({ file_id, mount_path });
    }
    return planned;
  }
}

/** The files among the resources of a session. */
export function filesOf(resources: readonly MountedResource[]): readonly FileResource[] {
  return resources.filter((resource) => resource.type === 'file');
}

function checkWritable(before: readonly MountedResource[], params: readonly FileResourceParams[]): void {
  const isReadOnly = before.some((each) => each.type === 'directory' && each.mode === 'read_only');
  if (!isReadOnly || params.length === 0) return;
  const advice = 'use mode copy, or leave the files out';
  throw requestError('invalid_request', 'resources: nothing can be mounted in a read_only directory', { advice });
}

/** Whether a path is in a git directory, where a file could be a hook or setting of the user's own git. File systems may ignore case. */
function isGitPath(path: string): boolean {
  return path.toLowerCase().split('/').includes('.git');
}

function attached({ type, id }: SourceResource) {
  const advice = 'delete the session, or create another one without it';
  return requestError('invalid_request', `${id} is a ${type}, which a session has for its lifetime`, { advice });
}

/** Throws for a path inside of a repository: a clone is moved to its path as a whole, and the path must be empty. */
function checkOutside(path: string, before: readonly MountedResource[]): void {
  const isRepository = ({ type }: MountedResource) => type === 'github_repository' || type === 'git_repository';
  const around = before.find((resource) => isRepository(resource) && path.startsWith(`${resource.mount_path}/`));
  if (around === undefined) return;
  const advice = 'choose a path outside of the repository';
  throw requestError(
    'invalid_request',
    `mount_path: ${path} is inside of ${around.mount_path}, which is a repository`,
    { advice },
  );
}

/** Mounts files immediately, for workspaces on this disk. */
export function createLocalMounts(openWorkspace: (sessionId: string) => Promise<string>): Mounts {
  return {
    put: async (sessionId, { mount_path: path }, open) => mount(await openWorkspace(sessionId), path, open),
    remove: async (sessionId, { mount_path: path }) => removeSessionFile(await openWorkspace(sessionId), path),
  };
}

/** Mounts a file. Fails if agents created something else at the path. */
async function mount(workspace: string, path: string, open: () => Readable): Promise<void> {
  await putSessionFile(workspace, path, open).catch((cause: unknown) => {
    if (!(cause instanceof ToolFailure)) throw cause;
    const advice = 'choose another mount_path';
    throw requestError('invalid_request', `mount_path: nothing can be put to ${path}`, { advice, cause });
  });
}

/** The path of a file without `mount_path`: its name, which describes the file to the agent, or else its id. */
function toOwnPath({ id, filename }: FileMetadata, taken: ReadonlySet<string>): string {
  const path = `${UPLOADS_PATH}/${filename}`;
  const isPossible = !taken.has(path) && Buffer.byteLength(filename) <= fileLimits.pathNameBytesMax;
  return isPossible ? path : `${UPLOADS_PATH}/${id}`;
}

/**
 * The path where agents find the file. Paths below the directories of every session are kept; any other path is rooted at
 * the uploads, as in the hosted API: `/data.csv` becomes `/mnt/session/uploads/data.csv`.
 */
function toMountPath(asked: string): string {
  const path = posix.normalize(asked);
  const parts = path.split('/').slice(1);
  const isFile = path.startsWith('/') && parts.every((part) => part !== '') && !DIRECTORIES.has(path);
  const isShort = parts.every((part) => Buffer.byteLength(part) <= fileLimits.pathNameBytesMax);
  const isInside = toInside(path) !== undefined;
  const mounted = isInside ? path : `${UPLOADS_PATH}${path}`;
  const isClear = isInside || !asked.split('/').includes('..');
  const isPossible = isFile && isShort && isClear && mounted.length <= fileLimits.mountPathCharsMax;
  // oxlint-disable-next-line no-control-regex -- the path becomes the name of a file
  if (isPossible && !/[\u0000-\u001f\u007f]/.test(path)) return mounted;
  const advice = 'use an absolute path without `..`, such as /workspace/data.csv';
  throw requestError('invalid_request', `mount_path: ${asked.slice(0, 200)} is not a path for a file`, { advice });
}

/** Paths of directories, at which no file can be mounted. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  ...SESSION_PATHS.map(({ shown }) => shown),
  UPLOADS_PATH,
  OUTPUTS_PATH,
]);
