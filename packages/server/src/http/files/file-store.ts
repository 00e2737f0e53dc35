import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';

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
  /** Where its bytes are. They never change. */
  pathOf(id: string): string;
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

interface StoredFile {
  readonly workspaceId: string;
  readonly metadata: FileMetadata;
}

export interface FileStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly filesMax?: number;
  readonly bytesMax?: number;
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
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // What a crash has left. Nobody else writes here.
  for (const name of await readdir(directory)) if (name.endsWith(DRAFT)) await rm(join(directory, name), REMOVE);
  /** They never change, so whoever was read is known. */
  const known = new Map<string, StoredFile>();

  return {
    receive: async (content) => {
      if ((await listIds()).length >= filesMax) throw tooMany(filesMax);
      const id = ids.next('file');
      const draft = join(directory, `${id}${DRAFT}`);
      const drop = () => rm(draft, REMOVE);
      await mkdir(draft, { mode: 0o700 });
      const bytes = await writeContent(join(draft, 'content'), content, bytesMax).catch(async (error: unknown) => {
        await drop();
        throw error;
      });
      return { keep: (file) => keep(id, draft, bytes, file), drop };
    },

    find: async (workspaceId, id) => {
      const stored = await load(id);
      return stored?.workspaceId === workspaceId ? stored.metadata : undefined;
    },

    list: async (workspaceId) => {
      const stored = await Promise.all((await listIds()).map(load));
      const mine = stored.filter((file) => file?.workspaceId === workspaceId).map((file) => file!.metadata);
      return mine.sort((a, b) => (a.id < b.id ? 1 : -1));
    },

    delete: async (workspaceId, id) => {
      const stored = await load(id);
      if (stored?.workspaceId !== workspaceId) return false;
      await remove(id);
      return true;
    },

    pathOf,

    read: async (id) => {
      const stored = await load(id);
      return stored && { metadata: stored.metadata, content: await readFile(pathOf(id)) };
    },
  };

  async function keep(id: string, draft: string, bytes: number, file: NewFile): Promise<FileMetadata> {
    const { workspaceId, filename, mimeType, expiresAt } = file;
    const metadata: FileMetadata = {
      type: 'file',
      id,
      filename,
      mime_type: mimeType,
      size_bytes: bytes,
      downloadable: true,
      created_at: toMoment(clock.now()),
      expires_at: expiresAt === null ? null : toMoment(expiresAt),
      scope: null,
    };
    const stored: StoredFile = { workspaceId, metadata };
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
    const { expires_at: end } = stored.metadata;
    if (end !== null && Date.parse(end) <= clock.now()) {
      await remove(id);
      return undefined;
    }
    known.set(id, stored);
    return stored;
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

async function writeContent(path: string, content: AsyncIterable<Uint8Array>, bytesMax: number): Promise<number> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw doorError('body_too_large', `the file has more than ${bytesMax} bytes`);
      yield chunk;
    }
  }
  await pipeline(counted, createWriteStream(path, { mode: 0o600, flush: true }));
  return bytes;
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

function tooMany(filesMax: number) {
  const problem = `there are ${filesMax} files, and more are not allowed`;
  return doorError('invalid_request', problem, { advice: 'delete files that nobody needs' });
}
