import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { fileLimits } from './limits.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { FileStore } from './file-store.ts';
import {
  countBytes,
  isOver,
  type NewFile,
  type StoredFile,
  toFileMetadata,
  toIndexRange,
  tooManyFiles,
} from './stored-file.ts';

export interface SharedFileStoreOptions {
  readonly store: Pick<Store, 'documents' | 'blobs'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly filesMax?: number;
  readonly bytesMax?: number;
}

/** Creates a file store in the store that all nodes share. A file exists once its document does; its bytes are written before. */
export function createSharedFileStore(options: SharedFileStoreOptions): FileStore {
  const { store, clock, ids, filesMax = fileLimits.uploadsMax, bytesMax = fileLimits.uploadBytesMax } = options;
  const { documents, blobs } = store;

  return {
    receive: async (workspaceId, content) => {
      await checkRoom(workspaceId);
      const id = ids.next('file');
      const { bytes } = await blobs.write(id, countBytes(content, bytesMax).chunks);
      return { keep: (file) => keep(workspaceId, { id, bytes }, file), drop: () => blobs.delete(id) };
    },

    find: async (workspaceId, id) => {
      const stored = await load(id);
      return stored?.workspaceId === workspaceId ? stored.metadata : undefined;
    },

    list: async (workspaceId, range) => {
      const { wanted, isAscending } = toIndexRange(range);
      const files: FileMetadata[] = [];
      let last: string | undefined;
      // Removes expired files while listing, and fills the page with later files.
      while (files.length < wanted.limit) {
        const from = last === undefined ? {} : { [isAscending ? 'above' : 'below']: last };
        const of = { ...wanted, kind: FILE, workspaceId, order: isAscending ? 'asc' : 'desc', ...from } as const;
        const documents = await store.documents.listOfWorkspace(of);
        for (const document of documents) {
          const stored = await check(document);
          if (stored !== undefined && files.length < wanted.limit) files.push(stored.metadata);
        }
        last = documents.at(-1)?.id;
        if (documents.length < wanted.limit) break;
      }
      const hasMore = files.length > range.limit;
      const page = files.slice(0, range.limit);
      return { files: isAscending ? page.toReversed() : page, hasMore };
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

  async function keep(
    workspaceId: string,
    { id, bytes }: { readonly id: string; readonly bytes: number },
    file: NewFile,
  ): Promise<FileMetadata> {
    const stored: StoredFile = { workspaceId, metadata: toFileMetadata(id, bytes, file, clock.now()) };
    await documents.put({ kind: FILE, id, data: stored, ifRevision: 0 });
    return stored.metadata;
  }

  async function load(id: string): Promise<StoredFile | undefined> {
    const document = await documents.get(FILE, id);
    return document && (await check(document));
  }

  /** The file in a document; undefined if it has expired. */
  async function check({ id, data }: DocumentRecord): Promise<StoredFile | undefined> {
    // The cast is safe because only this module writes these documents.
    const stored = data as unknown as StoredFile;
    if (!isOver(stored, clock.now())) return stored;
    await remove(id);
    return undefined;
  }

  async function remove(id: string): Promise<void> {
    await documents.delete(FILE, id);
    await blobs.delete(id);
  }

  /** Throws if the workspace has reached its limit of files. Uploads in progress are not counted, so they may exceed the limit. */
  async function checkRoom(workspaceId: string): Promise<void> {
    const count = await documents.countOfWorkspace({ kind: FILE, workspaceId, max: filesMax });
    if (count >= filesMax) throw tooManyFiles(filesMax);
  }
}

const FILE = 'file';
