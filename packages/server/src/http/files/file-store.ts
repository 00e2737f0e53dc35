import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { mapAtOnce } from '../../base/map-at-once.ts';
import { doorError } from '../door-error.ts';
import { isOutOfResources } from '../resource-error.ts';

/** Files that were uploaded, each in a directory of its own. */
export interface FileStore {
  /** Writes what arrives. It is no file before it is kept. */
  receive(content: AsyncIterable<Uint8Array>): Promise<Received>;
  /** Nothing that has expired. */
  find(workspaceId: string, id: string): Promise<FileMetadata | undefined>;
  /** The newest first. */
  list(workspaceId: string): Promise<readonly FileMetadata[]>;
  /** Whether it was there. */
  delete(workspaceId: string, id: string): Promise<boolean>;
  /** Its bytes. They never change. */
  content(id: string): Readable;
  /** Whosever it is. For what was checked when it was sent. */
  read(id: string): Promise<{ readonly metadata: FileMetadata; readonly content: Buffer } | undefined>;
}

export interface Received {
  keep(file: NewFile): Promise<FileMetadata>;
  drop(): Promise<void>;
}

export interface NewFile {
  readonly workspaceId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly expiresAt: number | null;
}

export interface StoredFile {
  readonly workspaceId: string;
  readonly metadata: FileMetadata;
}

export interface FileStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly filesMax?: number;
  readonly bytesMax?: number;
  /** Receives damaged files. By default a warning of the process. */
  readonly onProblem?: ((problem: Error) => void) | undefined;
}

/**
 * Files on the disk. What is there is whole: each is written under another name first, and a crash leaves a draft that
 * nobody looks at.
 *
 * @example
 * const files = await openFileStore({ directory: join(dataDirectory, 'files'), clock, ids });
 */
export async function openFileStore(options: FileStoreOptions): Promise<FileStore> {
  const { directory, clock, ids, filesMax = limits.uploadsMax, bytesMax = limits.uploadBytesMax } = options;
  const { onProblem = (problem) => process.emitWarning(problem) } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // What a crash has left. Nobody else writes here.
  for (const name of await readdir(directory)) if (name.endsWith(DRAFT)) await rm(join(directory, name), REMOVE);
  /** They never change, so whoever was read is known. */
  const known = new Map<string, StoredFile>();

  return {
    receive: async (content) => {
      if ((await listIds()).length >= filesMax) throw tooManyFiles(filesMax);
      const id = ids.next('file');
      const draft = join(directory, `${id}${DRAFT}`);
      const drop = () => rm(draft, REMOVE);
      await mkdir(draft, { mode: 0o700 });
      const counted = countBytes(content, bytesMax);
      const file = createWriteStream(join(draft, 'content'), { mode: 0o600, flush: true });
      await pipeline(counted.chunks, file).catch(async (error: unknown) => {
        await drop();
        throw error;
      });
      const { bytes } = counted;
      return { keep: (file) => keep(id, draft, bytes, file), drop };
    },

    find: async (workspaceId, id) => {
      const stored = await load(id);
      return stored?.workspaceId === workspaceId ? stored.metadata : undefined;
    },

    list: async (workspaceId) => {
      const stored = await mapAtOnce(await listIds(), limits.filesAtOnceMax, loadOrReport);
      const mine = stored.filter((file) => file?.workspaceId === workspaceId).map((file) => file!.metadata);
      return mine.sort((a, b) => (a.id < b.id ? 1 : -1));
    },

    delete: async (workspaceId, id) => {
      const stored = await load(id);
      if (stored?.workspaceId !== workspaceId) return false;
      await remove(id);
      return true;
    },

    // The stream may fail before it is read; without a listener that ends the process.
    content: (id) => createReadStream(pathOf(id)).on('error', () => {}),

    read: async (id) => {
      const stored = await load(id);
      return stored && { metadata: stored.metadata, content: await readFile(pathOf(id)) };
    },
  };

  async function keep(id: string, draft: string, bytes: number, file: NewFile): Promise<FileMetadata> {
    const metadata = toFileMetadata(id, bytes, file, clock.now());
    const stored: StoredFile = { workspaceId: file.workspaceId, metadata };
    await writeDurably(join(draft, 'file.json'), JSON.stringify(stored));
    await rename(draft, join(directory, id));
    known.set(id, stored);
    return metadata;
  }

  function pathOf(id: string): string {
    return join(directory, id, 'content');
  }

  async function listIds(): Promise<string[]> {
    return (await readdir(directory)).filter((name) => ID.test(name));
  }

  async function load(id: string): Promise<StoredFile | undefined> {
    if (!ID.test(id)) return undefined;
    const stored = known.get(id) ?? (await readStored(id));
    if (stored === undefined) return undefined;
    if (isOver(stored, clock.now())) {
      await remove(id);
      return undefined;
    }
    known.set(id, stored);
    return stored;
  }

  /** A damaged file must not hide the rest of the list. */
  async function loadOrReport(id: string): Promise<StoredFile | undefined> {
    try {
      return await load(id);
    } catch (error) {
      if (isOutOfResources(error)) throw error;
      onProblem(new Error(`${join(directory, id)} cannot be read and is left out of lists`, { cause: error }));
      return undefined;
    }
  }

  async function readStored(id: string): Promise<StoredFile | undefined> {
    try {
      // Nobody else writes here.
      return JSON.parse(await readFile(join(directory, id, 'file.json'), 'utf8')) as StoredFile;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async function remove(id: string): Promise<void> {
    known.delete(id);
    const gone = join(directory, `${id}${DRAFT}`);
    await rename(join(directory, id), gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rm(gone, REMOVE);
  }
}

const ID = /^file_\w+$/;
const DRAFT = '.draft';
const REMOVE = { recursive: true, force: true } as const;

/** Passes bytes on and counts them; too many end it. */
export function countBytes(content: AsyncIterable<Uint8Array>, bytesMax: number) {
  const counted = { bytes: 0, chunks: pass() };
  return counted;

  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      counted.bytes += chunk.length;
      if (counted.bytes > bytesMax) throw doorError('body_too_large', `the file has more than ${bytesMax} bytes`);
      yield chunk;
    }
  }
}

export function toFileMetadata(id: string, bytes: number, file: NewFile, now: number): FileMetadata {
  const { filename, mimeType, expiresAt } = file;
  return {
    type: 'file',
    id,
    filename,
    mime_type: mimeType,
    size_bytes: bytes,
    downloadable: true,
    created_at: toMoment(now),
    expires_at: expiresAt === null ? null : toMoment(expiresAt),
    scope: null,
  };
}

/** Whether its time is over. */
export function isOver({ metadata: { expires_at: end } }: StoredFile, now: number): boolean {
  return end !== null && Date.parse(end) <= now;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function toMoment(time: number): string {
  return new Date(time).toISOString();
}

export function tooManyFiles(filesMax: number) {
  const problem = `there are ${filesMax} files, and more are not allowed`;
  return doorError('invalid_request', problem, { advice: 'delete files that nobody needs' });
}
