import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { FileResource, FileResourceParams } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createLocks } from '../../tools/locks.ts';
import { putSessionFile, removeSessionFile } from '../../tools/session-files.ts';
import { toInside, UPLOADS_PATH } from '../../tools/session-paths.ts';
import { ToolFailure } from '../../tools/tool-failure.ts';
import { doorError } from '../door-error.ts';
import type { FileStore } from './file-store.ts';

/** Files that are mounted for the agents of a session: copies, so that nothing they do changes the original. */
export interface SessionResources {
  list(sessionId: string): Promise<readonly FileResource[]>;
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
  readonly directory: string;
  readonly files: FileStore;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function createSessionResources(options: SessionResourcesOptions): SessionResources {
  const { directory, files, openWorkspace, clock, ids } = options;
  const locks = createLocks();

  return {
    list: read,

    add: ({ workspaceId, sessionId }, params) =>
      locks.hold(sessionId, async () => {
        const before = await read(sessionId);
        const planned = await plan(workspaceId, before, params);
        const workspace = await openWorkspace(sessionId);
        const now = new Date(clock.now()).toISOString();
        const added = planned.map(({ file_id, mount_path }): FileResource => {
          return { type: 'file', id: ids.next('sesrsc'), file_id, mount_path, created_at: now, updated_at: now };
        });
        for (const { file_id, mount_path } of added) await mount(workspace, mount_path, files.pathOf(file_id));
        await write(sessionId, [...before, ...added]);
        return added;
      }),

    delete: (sessionId, id) =>
      locks.hold(sessionId, async () => {
        const before = await read(sessionId);
        const gone = before.find((resource) => resource.id === id);
        if (gone === undefined) return false;
        await removeSessionFile(await openWorkspace(sessionId), gone.mount_path);
        await write(
          sessionId,
          before.filter((resource) => resource !== gone),
        );
        return true;
      }),

    forget: (sessionId) => locks.hold(sessionId, () => rm(fileOf(sessionId), { force: true })),
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
      const mount_path = toMountPath(asked ?? `${UPLOADS_PATH}/${file.filename}`);
      if (taken.has(mount_path)) {
        const advice = 'give each file a mount_path of its own';
        throw doorError('invalid_request', `mount_path: ${mount_path} is taken`, { advice });
      }
      taken.add(mount_path);
      planned.push({ file_id, mount_path });
    }
    return planned;
  }

  function fileOf(sessionId: string): string {
    return join(directory, `${sessionId}.json`);
  }

  async function read(sessionId: string): Promise<readonly FileResource[]> {
    try {
      // Nobody else writes here.
      return JSON.parse(await readFile(fileOf(sessionId), 'utf8')) as FileResource[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  async function write(sessionId: string, resources: readonly FileResource[]): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const draft = `${fileOf(sessionId)}.draft`;
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(JSON.stringify(resources));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, fileOf(sessionId));
  }
}

/** What agents have made of their workspace may be in the way. */
async function mount(workspace: string, path: string, source: string): Promise<void> {
  await putSessionFile(workspace, path, source).catch((cause: unknown) => {
    if (!(cause instanceof ToolFailure)) throw cause;
    const advice = 'choose another mount_path';
    throw doorError('invalid_request', `mount_path: nothing can be put to ${path}`, { advice, cause });
  });
}

/** Below one of the directories that agents know by the same name in every session. */
function toMountPath(asked: string): string {
  const path = posix.normalize(asked);
  const inside = asked.includes('\0') ? undefined : toInside(path);
  if (inside !== undefined && inside !== '' && !path.endsWith('/')) return path;
  const advice = 'begin it with /mnt/session/uploads/ or /workspace/';
  throw doorError('invalid_request', `mount_path: ${asked} is no place for a file`, { advice });
}
