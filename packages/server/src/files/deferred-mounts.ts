import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FileResource } from '@fleetloom/protocol/managed-agents';
import { createLocks } from '../tools/locks.ts';
import { putSessionFile, removeSessionFile } from '../tools/workspace/session-files.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { ResourceStore } from './resource-store.ts';
import { filesOf, type Mounts } from './session-resources.ts';

/** Mounts for workspaces on other nodes: recorded first, and applied before the workspace is used. */
export interface DeferredMounts extends Mounts {
  /** Mounts and removes files in a workspace on this disk as recorded. Called before a tool uses the workspace. */
  bring(sessionId: string, workspace: string): Promise<void>;
  /** Forgets which files a workspace has, after the workspace was removed. */
  drop(sessionId: string): Promise<void>;
}

export interface DeferredMountsOptions {
  readonly store: Pick<Store, 'blobs' | 'documents'>;
  readonly resourceStore: ResourceStore;
  /** The directory that records which files each workspace on this disk has. */
  readonly directory: string;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Mounts for several nodes: the workspace is on the disk of one node, possibly not this one, or does not exist yet. The copy of a file
 * is written to the store at once, so that the file may be deleted afterwards, and to the workspace when the workspace is used next.
 */
export function createDeferredMounts({
  store,
  resourceStore,
  directory,
  onProblem,
}: DeferredMountsOptions): DeferredMounts {
  const { blobs, documents } = store;
  const locks = createLocks();
  const noteOf = (sessionId: string) => join(directory, `${sessionId}.json`);

  return {
    begin: async (sessionId, resources) => {
      const [first] = resources;
      const data = { session_id: sessionId, resource_ids: resources.map(({ id }) => id) };
      await documents.put({ kind: MOUNTING, id: first!.id, data });
      return () => documents.delete(MOUNTING, first!.id);
    },
    put: async (_, resource, open) => void (await blobs.write(blobOf(resource), open())),
    remove: (_, resource) => blobs.delete(blobOf(resource)),
    forget: (resource) => blobs.delete(blobOf(resource)),
    drop: (sessionId) => rm(noteOf(sessionId), { force: true }),

    bring: (sessionId, workspace) =>
      locks.hold(sessionId, async () => {
        const [wanted, known] = [filesOf(await resourceStore.read(sessionId)), await readNote(sessionId)];
        const has = (list: readonly FileResource[], { id }: FileResource) => list.some((each) => each.id === id);
        const gone = known.filter((resource) => !has(wanted, resource));
        const fresh = wanted.filter((resource) => !has(known, resource));
        if (gone.length + fresh.length === 0) return;
        for (const { mount_path: path } of gone) await removeSessionFile(workspace, path);
        for (const resource of fresh) {
          const open = () => Readable.from(blobs.read(blobOf(resource)), { objectMode: false });
          // A file that agents created at this path is kept; the session continues without the mounted file.
          await putSessionFile(workspace, resource.mount_path, open).catch(onProblem);
        }
        await writeNote(sessionId, wanted);
      }),
  };

  async function readNote(sessionId: string): Promise<readonly FileResource[]> {
    try {
      // Only this process writes here, so the content is trusted.
      return JSON.parse(await readFile(noteOf(sessionId), 'utf8')) as FileResource[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  async function writeNote(sessionId: string, resources: readonly FileResource[]): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(`${noteOf(sessionId)}.draft`, JSON.stringify(resources), { mode: 0o600 });
    await rename(`${noteOf(sessionId)}.draft`, noteOf(sessionId));
  }
}

/** Removes copies that were written to the store and, because of a crash, never mounted. */
export function createMountSweep({ blobs }: Pick<Store, 'blobs'>, resourceStore: ResourceStore) {
  return async ({ data }: DocumentRecord): Promise<void> => {
    // Only `begin` writes this data.
    const { session_id: sessionId, resource_ids: ids } = data as { session_id: string; resource_ids: string[] };
    const mounted = new Set((await resourceStore.read(sessionId)).map(({ id }) => id));
    for (const id of ids) if (!mounted.has(id)) await blobs.delete(blobOf({ id }));
  };
}

/** The kind of documents that record mounts in progress. */
export const MOUNTING = 'mounting';

function blobOf({ id }: Pick<FileResource, 'id'>): string {
  return `mount_${id}`;
}
