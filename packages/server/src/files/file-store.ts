import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, opendir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { baseLimits } from '../base/limits.ts';
import { FileIndex } from './file-index.ts';
import { fileLimits } from './limits.ts';
import {
  countBytes,
  expiryOf,
  type FileRange,
  isOver,
  type NewFile,
  type StoredFile,
  toFileMetadata,
  toIndexRange,
  tooManyFiles,
} from './stored-file.ts';
import { mapAtOnce } from '../base/map-at-once.ts';
import { isOutOfResources } from '../base/resource-error.ts';

/** The uploaded files of all workspaces. */
export interface FileStore {
  /** Writes content as it arrives. The content becomes a file of the workspace only when `keep` is called. */
  receive(workspaceId: string, content: AsyncIterable<Uint8Array>): Promise<Received>;
  /** Finds a file that has not expired. */
  find(workspaceId: string, id: string): Promise<FileMetadata | undefined>;
  /** A page of files, newest first. */
  list(workspaceId: string, range: FileRange): Promise<FoundFiles>;
  /** Deletes a file. False if it does not exist. */
  delete(workspaceId: string, id: string): Promise<boolean>;
  /** The content of a file, which never changes. */
  content(id: string): Readable;
  /** Reads a file of any workspace. Only for ids that were checked against the workspace when they were received. */
  read(id: string): Promise<{ readonly metadata: FileMetadata; readonly content: Buffer } | undefined>;
}

/** A page of files. */
export interface FoundFiles {
  readonly files: readonly FileMetadata[];
  /** Whether the range has more files. */
  readonly hasMore: boolean;
}

/** The content of an upload, to be kept as a file or dropped. */
export interface Received {
  keep(file: NewFile): Promise<FileMetadata>;
  drop(): Promise<void>;
}

/** The directory and the limits of a file store. */
export interface FileStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The largest number of files of one workspace. */
  readonly filesMax?: number;
  readonly bytesMax?: number;
  /** Called for damaged files. By default emits a process warning. */
  readonly onProblem?: ((problem: Error) => void) | undefined;
}

/**
 * Opens a file store on the disk. Files are always complete: each is written under another name first, and a crash leaves a draft that
 * is never read.
 *
 * @example
 * const files = await openFileStore({ directory: join(dataDirectory, 'files'), clock, ids });
 */
export async function openFileStore(options: FileStoreOptions): Promise<FileStore> {
  const { directory, clock, ids, filesMax = fileLimits.uploadsMax, bytesMax = fileLimits.uploadBytesMax } = options;
  const { onProblem = (problem) => process.emitWarning(problem) } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Removes drafts that a crash has left. Only this process writes here.
  for await (const { name } of await opendir(directory, READ)) {
    if (name.endsWith(DRAFT)) await rm(join(directory, name), REMOVE);
  }
  /** A cache of the last used files: a stored file never changes. */
  const known = new Map<string, StoredFile>();
  const index = new FileIndex();
  /** The number of uploads in progress of each workspace, which count as files. */
  const pending = new Map<string, number>();
  /** Files that were removed while the index is loading. The loading may have read them before. */
  const removed = new Set<string>();
  let indexing: Promise<void> | undefined;
  let isIndexed = false;
  // The start does not wait for the index. After a failure the next call that needs the index tries again.
  loadIndex().catch(() => {});

  return {
    receive: async (workspaceId, content) => {
      const endPending = reserve(workspaceId);
      const id = ids.next('file');
      const draft = join(directory, `${id}${DRAFT}`);
      const drop = async () => {
        endPending();
        await rm(draft, REMOVE);
      };
      try {
        await mkdir(draft, { mode: 0o700 });
        const counted = countBytes(content, bytesMax);
        const file = createWriteStream(join(draft, 'content'), { mode: 0o600, flush: true });
        await pipeline(counted.chunks, file);
        const { bytes } = counted;
        return { keep: (about) => keep(workspaceId, { id, draft, bytes }, about).finally(endPending), drop };
      } catch (error) {
        await drop();
        throw error;
      }
    },

    find: async (workspaceId, id) => {
      const stored = await load(id);
      return stored?.workspaceId === workspaceId ? stored.metadata : undefined;
    },

    list: async (workspaceId, range) => {
      await loadIndex();
      removeExpired(workspaceId);
      const { wanted, isAscending } = toIndexRange(range);
      const found = index.find(workspaceId, { ...wanted, isAscending });
      const stored = await mapAtOnce(found.slice(0, range.limit), baseLimits.filesAtOnceMax, (id) =>
        readOrReport(id, load),
      );
      const files = stored.flatMap((file) => (file === undefined ? [] : [file.metadata]));
      return { files: isAscending ? files.toReversed() : files, hasMore: found.length > range.limit };
    },

    delete: async (workspaceId, id) => {
      const stored = await load(id);
      if (stored?.workspaceId !== workspaceId) return false;
      await remove(workspaceId, id);
      return true;
    },

    // The stream may fail before it is read; without a listener such an error would end the process.
    content: (id) => createReadStream(pathOf(id)).on('error', () => {}),

    read: async (id) => {
      const stored = await load(id);
      return stored && { metadata: stored.metadata, content: await readFile(pathOf(id)) };
    },
  };

  /**
   * Counts an upload in progress. Throws if the workspace has reached its limit of files. Does not wait for the index:
   * until that is loaded, files from before the start are not all counted.
   */
  function reserve(workspaceId: string): () => void {
    removeExpired(workspaceId);
    if (index.count(workspaceId) + (pending.get(workspaceId) ?? 0) >= filesMax) throw tooManyFiles(filesMax);
    const change = (by: number) => {
      const count = (pending.get(workspaceId) ?? 0) + by;
      if (count === 0) pending.delete(workspaceId);
      else pending.set(workspaceId, count);
    };
    change(1);
    let isOver = false;
    return () => {
      if (!isOver) change(-1);
      isOver = true;
    };
  }

  async function keep(workspaceId: string, { id, draft, bytes }: Draft, file: NewFile): Promise<FileMetadata> {
    const metadata = toFileMetadata(id, bytes, file, clock.now());
    const stored: StoredFile = { workspaceId, metadata };
    await writeDurably(join(draft, 'file.json'), JSON.stringify(stored));
    await rename(draft, join(directory, id));
    remember(id, stored);
    index.add(workspaceId, id, file.expiresAt);
    return metadata;
  }

  function remember(id: string, stored: StoredFile): void {
    known.delete(id);
    known.set(id, stored);
    const [oldest] = known.keys();
    if (known.size > fileLimits.knownUploadsMax) known.delete(oldest!);
  }

  /** Loads the index once. */
  async function loadIndex(): Promise<void> {
    indexing ??= readIndex().catch((error: unknown) => {
      indexing = undefined;
      throw error;
    });
    await indexing;
  }

  async function readIndex(): Promise<void> {
    const batch: string[] = [];
    const addBatch = async () => {
      const stored = await mapAtOnce(batch.splice(0), baseLimits.filesAtOnceMax, (id) => readOrReport(id));
      for (const file of stored) {
        if (file === undefined || removed.has(file.metadata.id)) continue;
        index.add(file.workspaceId, file.metadata.id, expiryOf(file));
      }
    };
    for await (const { name } of await opendir(directory, READ)) {
      if (!ID.test(name)) continue;
      batch.push(name);
      if (batch.length >= INDEX_BATCH) await addBatch();
    }
    await addBatch();
    isIndexed = true;
    removed.clear();
  }

  /** Removes expired files from lists and counts at once, and from the disk one after the other. */
  function removeExpired(workspaceId: string): void {
    const expired = index.takeExpired(workspaceId, clock.now());
    if (expired.length === 0) return;
    const removeAll = async () => {
      for (const id of expired) await remove(workspaceId, id);
    };
    removeAll().catch(onProblem);
  }

  function pathOf(id: string): string {
    return join(directory, id, 'content');
  }

  async function load(id: string): Promise<StoredFile | undefined> {
    if (!ID.test(id)) return undefined;
    const stored = known.get(id) ?? (await readStored(id));
    if (stored === undefined) return undefined;
    if (isOver(stored, clock.now())) {
      await remove(stored.workspaceId, id);
      return undefined;
    }
    remember(id, stored);
    return stored;
  }

  /** Reads a file. A damaged file is reported and skipped, so that the rest of the list stays readable. */
  async function readOrReport(id: string, read = readStored): Promise<StoredFile | undefined> {
    try {
      return await read(id);
    } catch (error) {
      if (isOutOfResources(error)) throw error;
      onProblem(new Error(`${join(directory, id)} cannot be read and is left out of lists`, { cause: error }));
      return undefined;
    }
  }

  async function readStored(id: string): Promise<StoredFile | undefined> {
    try {
      // Only this process writes here, so the content is trusted.
      return JSON.parse(await readFile(join(directory, id, 'file.json'), 'utf8')) as StoredFile;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async function remove(workspaceId: string, id: string): Promise<void> {
    known.delete(id);
    if (!isIndexed) removed.add(id);
    index.remove(workspaceId, id);
    const gone = join(directory, `${id}${DRAFT}`);
    await rename(join(directory, id), gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rm(gone, REMOVE);
  }
}

interface Draft {
  readonly id: string;
  /** The directory of the draft. */
  readonly draft: string;
  readonly bytes: number;
}

const ID = /^file_\w+$/;
/** Files that are read per batch while the index is loaded. */
const INDEX_BATCH = 500;
const DRAFT = '.draft';
const READ = { bufferSize: 1_000 } as const;
const REMOVE = { recursive: true, force: true } as const;

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
