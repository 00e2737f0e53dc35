import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MountedResource } from '@fleetloom/protocol/managed-agents';
import { baseLimits } from '../base/limits.ts';
import { mapAtOnce } from '../base/map-at-once.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The mounted files of sessions, and the sources of their workspaces. */
export interface ResourceStore {
  read(sessionId: string): Promise<readonly MountedResource[]>;
  /** The resources of many sessions at once. Sessions without resources may be absent. */
  readAll(sessionIds: readonly string[]): Promise<ReadonlyMap<string, readonly MountedResource[]>>;
  /** Calls `toNext` again after a conflicting change. If it throws, nothing changes. */
  change(
    sessionId: string,
    toNext: (before: readonly MountedResource[]) => Promise<readonly MountedResource[]>,
  ): Promise<void>;
  remove(sessionId: string): Promise<void>;
}

/** Creates a resource store with one file for each session. A change holds the lock of the session. */
export function createResourceDirectory(directory: string): ResourceStore {
  const fileOf = (sessionId: string) => join(directory, `${sessionId}.json`);
  const read = async (sessionId: string) => {
    try {
      // Only this process writes here, so the content is trusted.
      return JSON.parse(await readFile(fileOf(sessionId), 'utf8')) as MountedResource[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  };
  return {
    read,
    readAll: async (sessionIds) => {
      const all = await mapAtOnce(sessionIds, baseLimits.filesAtOnceMax, async (id) => [id, await read(id)] as const);
      return new Map(all);
    },
    change: async (sessionId, toNext) => {
      const next = await toNext(await read(sessionId));
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const draft = `${fileOf(sessionId)}.draft`;
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify(next));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, fileOf(sessionId));
    },
    remove: (sessionId) => rm(fileOf(sessionId), { force: true }),
  };
}

/** Creates a resource store with a document for each session, in the store that all nodes share. */
export function createResourceDocuments({ documents }: Pick<Store, 'documents'>): ResourceStore {
  return {
    read: async (sessionId) => resourcesOf(await documents.get(SESSION_RESOURCES, sessionId)),
    readAll: async (sessionIds) => {
      const found = await documents.getAll(SESSION_RESOURCES, sessionIds);
      return new Map(found.map((record) => [record.id, resourcesOf(record)]));
    },
    change: async (sessionId, toNext) => {
      for (let attempt = 1; ; attempt++) {
        const before = await documents.get(SESSION_RESOURCES, sessionId);
        const data = { resources: await toNext(resourcesOf(before)) };
        try {
          await documents.put({ kind: SESSION_RESOURCES, id: sessionId, data, ifRevision: before?.revision ?? 0 });
          return;
        } catch (error) {
          if (!isStoreError(error, 'version_conflict') || attempt >= baseLimits.updateAttemptsMax) throw error;
        }
      }
    },
    remove: (sessionId) => documents.delete(SESSION_RESOURCES, sessionId),
  };
}

/** The resources in a document. The cast is safe because only `change` writes these documents. */
function resourcesOf(record: DocumentRecord | undefined): MountedResource[] {
  return (record?.data['resources'] ?? []) as unknown as MountedResource[];
}

/** The kind of the stored documents. */
export const SESSION_RESOURCES = 'session_resources';
