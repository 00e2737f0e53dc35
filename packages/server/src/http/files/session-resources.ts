import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import type { FileMetadata, FileResource, FileResourceParams } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createLocks } from '../../tools/locks.ts';
import { putSessionFile, removeSessionFile } from '../../tools/session-files.ts';
import { OUTPUTS_PATH, SESSION_PATHS, toInside, UPLOADS_PATH } from '../../tools/session-paths.ts';
import { ToolFailure } from '../../tools/tool-failure.ts';
import { doorError } from '../door-error.ts';
import type { FileStore } from './file-store.ts';
import type { ResourceShelf } from './resource-shelf.ts';

/** Files that are mounted for the agents of a session: copies, so that nothing they do changes the original. */
export interface SessionResources {
  list(sessionId: string): Promise<readonly FileResource[]>;
  /** Of many sessions at once; those that have none may be left out. */
  listAll(sessionIds: readonly string[]): Promise<ReadonlyMap<string, readonly FileResource[]>>;
  /** All of them or none. */
  add(at: ResourcesAt, params: readonly FileResourceParams[]): Promise<readonly FileResource[]>;
  /** Whether it was there. The copy goes too. */
  delete(sessionId: string, id: string): Promise<boolean>;
  /** The session is gone. */
  forget(sessionId: string): Promise<void>;
}

export interface ResourcesAt {
  readonly workspaceId: string;
  readonly sessionId: string;
}

export interface SessionResourcesOptions {
  readonly shelf: ResourceShelf;
  readonly files: Pick<FileStore, 'find' | 'content'>;
  readonly mounts: Mounts;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Puts copies of files to where agents find them, and takes them away again. */
export interface Mounts {
  /** Notes what is about to be put, so that a crash leaves nothing that nobody knows of. Returns what ends the note. */
  begin?(sessionId: string, resources: readonly FileResource[]): Promise<() => Promise<void>>;
  put(sessionId: string, resource: FileResource, open: () => Readable): Promise<void>;
  remove(sessionId: string, resource: FileResource): Promise<void>;
  /** The session is gone, and its workspace with it. */
  forget?(resource: FileResource): Promise<void>;
}

export function createSessionResources(options: SessionResourcesOptions): SessionResources {
  const { shelf, files, mounts, clock, ids } = options;
  const locks = createLocks();

  return {
    list: (sessionId) => shelf.read(sessionId),

    listAll: (sessionIds) => shelf.readAll(sessionIds),

    add: ({ workspaceId, sessionId }, params) =>
      locks.hold(sessionId, async () => {
        const planned = await plan(workspaceId, await shelf.read(sessionId), params);
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
          await shelf.change(sessionId, async (before) => {
            await plan(
              workspaceId,
              before,
              planned.map((each) => ({ type: 'file' as const, ...each })),
            );
            return [...before, ...added];
          });
        } catch (error) {
          // The error is what the caller has to know; what cannot be removed either is removed with the session.
          for (const resource of done) await mounts.remove(sessionId, resource).catch(() => undefined);
          throw error;
        }
        await isDone?.();
        return added;
      }),

    delete: (sessionId, id) =>
      locks.hold(sessionId, async () => {
        const gone = (await shelf.read(sessionId)).find((resource) => resource.id === id);
        if (gone === undefined) return false;
        await mounts.remove(sessionId, gone);
        await shelf.change(sessionId, async (known) => known.filter((resource) => resource.id !== id));
        return true;
      }),

    forget: (sessionId) =>
      locks.hold(sessionId, async () => {
        for (const resource of await shelf.read(sessionId)) await mounts.forget?.(resource);
        await shelf.remove(sessionId);
      }),
  };

  async function plan(workspaceId: string, before: readonly FileResource[], params: readonly FileResourceParams[]) {
    if (before.length + params.length > limits.sessionResourcesMax) {
      const problem = `resources: a session has at most ${limits.sessionResourcesMax}`;
      throw doorError('invalid_request', problem, { advice: 'delete resources that it does not need' });
    }
    const taken = new Set(before.map(({ mount_path }) => mount_path));
    const planned: { readonly file_id: string; readonly mount_path: string }[] = [];
    for (const { file_id, mount_path: asked } of params) {
      const file = await files.find(workspaceId, file_id);
      if (file === undefined) throw doorError('unknown_id', `${file_id} does not exist`);
      const mount_path = asked === undefined || asked === null ? toOwnPath(file, taken) : toMountPath(asked);
      if (taken.has(mount_path)) {
        const advice = 'give each file a mount_path of its own';
        throw doorError('invalid_request', `mount_path: ${mount_path} is taken`, { advice });
      }
      taken.add(mount_path);
      planned.push({ file_id, mount_path });
    }
    return planned;
  }
}

/** Into workspaces that are at hand, at once. */
export function createLocalMounts(openWorkspace: (sessionId: string) => Promise<string>): Mounts {
  return {
    put: async (sessionId, { mount_path: path }, open) => mount(await openWorkspace(sessionId), path, open),
    remove: async (sessionId, { mount_path: path }) => removeSessionFile(await openWorkspace(sessionId), path),
  };
}

/** What agents have made of their workspace may be in the way. */
async function mount(workspace: string, path: string, open: () => Readable): Promise<void> {
  await putSessionFile(workspace, path, open).catch((cause: unknown) => {
    if (!(cause instanceof ToolFailure)) throw cause;
    const advice = 'choose another mount_path';
    throw doorError('invalid_request', `mount_path: nothing can be put to ${path}`, { advice, cause });
  });
}

/** The path of a file without `mount_path`: by its name, which describes it to the agent, or else by its id. */
function toOwnPath({ id, filename }: FileMetadata, taken: ReadonlySet<string>): string {
  const path = `${UPLOADS_PATH}/${filename}`;
  const isPossible = !taken.has(path) && Buffer.byteLength(filename) <= limits.pathNameBytesMax;
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
  const isShort = parts.every((part) => Buffer.byteLength(part) <= limits.pathNameBytesMax);
  const isInside = toInside(path) !== undefined;
  const mounted = isInside ? path : `${UPLOADS_PATH}${path}`;
  const isClear = isInside || !asked.split('/').includes('..');
  const isPossible = isFile && isShort && isClear && mounted.length <= limits.mountPathCharsMax;
  // oxlint-disable-next-line no-control-regex -- it becomes the name of a file
  if (isPossible && !/[\u0000-\u001f\u007f]/.test(path)) return mounted;
  const advice = 'use an absolute path without `..`, such as /workspace/data.csv';
  throw doorError('invalid_request', `mount_path: ${asked.slice(0, 200)} is not a path for a file`, { advice });
}

/** Paths of directories, at which no file can be mounted. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  ...SESSION_PATHS.map(({ shown }) => shown),
  UPLOADS_PATH,
  OUTPUTS_PATH,
]);
