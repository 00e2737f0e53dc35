import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { DocumentRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import {
  countBytes,
  type FileStore,
  isOver,
  type NewFile,
  type StoredFile,
  toFileMetadata,
  tooManyFiles,
} from './file-store.ts';

export interface SharedFileStoreOptions {
  readonly store: Pick<Store, 'documents' | 'blobs'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly filesMax?: number;
  readonly bytesMax?: number;
}

/** Files in the store that all nodes share. A file is there when its document is; its bytes are written before. */
export function createSharedFileStore(options: SharedFileStoreOptions): FileStore {
  const { store, clock, ids, filesMax = limits.uploadsMax, bytesMax = limits.uploadBytesMax } = options;
  const { documents, blobs } = store;

  return {
    receive: async (content) => {
      if (await isFull()) throw tooManyFiles(filesMax);
      const id = ids.next('file');
      const { bytes } = await blobs.write(id, countBytes(content, bytesMax).chunks);
      return { keep: (file) => keep(id, bytes, file), drop: () => blobs.delete(id) };
    },

    find: async (workspaceId, id) => {
      const stored = await load(id);
      return stored?.workspaceId === workspaceId ? stored.metadata : undefined;
    },

    list: async (workspaceId) => {
      const mine: FileMetadata[] = [];
      for await (const document of listAll()) {
        const stored = await check(document);
        if (stored?.workspaceId === workspaceId) mine.push(stored.metadata);
      }
      return mine.sort((a, b) => (a.id < b.id ? 1 : -1));
    },

    delete: async (workspaceId, id) => {
      const stored = await load(id);
      if (stored?.workspaceId !== workspaceId) return false;
      await remove(id);
      return true;
    },

    content: (id) => Readable.from(blobs.read(id), { objectMode: false }),

    read: async (id) => {
      const stored = await load(id);
      return stored && { metadata: stored.metadata, content: await buffer(Readable.from(blobs.read(id))) };
    },
  };

  async function keep(id: string, bytes: number, file: NewFile): Promise<FileMetadata> {
    const stored: StoredFile = {
      workspaceId: file.workspaceId,
      metadata: toFileMetadata(id, bytes, file, clock.now()),
    };
    await documents.put({ kind: FILE, id, data: stored, ifRevision: 0 });
    return stored.metadata;
  }

  async function load(id: string): Promise<StoredFile | undefined> {
    const document = await documents.get(FILE, id);
    return document && (await check(document));
  }

  /** Undefined if its time is over. */
  async function check({ id, data }: DocumentRecord): Promise<StoredFile | undefined> {
    // Only this file writes it.
    const stored = data as unknown as StoredFile;
    if (!isOver(stored, clock.now())) return stored;
    await remove(id);
    return undefined;
  }

  async function remove(id: string): Promise<void> {
    await documents.delete(FILE, id);
    await blobs.delete(id);
  }

  async function isFull(): Promise<boolean> {
    let count = 0;
    for await (const _ of listAll()) if (++count >= filesMax) return true;
    return false;
  }

  async function* listAll(): AsyncGenerator<DocumentRecord> {
    let cursor: string | null = null;
    do {
      const place: { cursor?: string } = cursor === null ? {} : { cursor };
      const page = await documents.list({ kind: FILE, limit: limits.pageItemsMax, ...place });
      yield* page.items;
      cursor = page.next;
    } while (cursor !== null);
  }
}

const FILE = 'file';
