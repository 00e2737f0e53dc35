import { type BigIntStats, constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { isCode } from '../../tools/workspace/directory.ts';
import { type BytePath, toPathBytes } from './objects/path-text.ts';

/** The file, link or other entry at a path of the workspace. */
export type Found =
  | { readonly type: 'missing' }
  | { readonly type: 'directory' }
  | { readonly type: 'special' }
  | { readonly type: 'unreadable' }
  | { readonly type: 'too_large'; readonly stats: BigIntStats }
  | {
      readonly type: 'file';
      readonly isExecutable: boolean;
      readonly content: Buffer;
      /** The time of the last change of its content or attributes. */
      readonly changedAt: number;
    }
  | { readonly type: 'link'; readonly content: Buffer; readonly changedAt: number };

/**
 * Reads files below a directory without ever leaving it. Each directory on the way is opened from its parent and held, and a
 * symbolic link is never followed, so an agent that replaces a directory by a link during a read gains nothing: the file is
 * `missing`. Files are read in the order of their paths, so that a directory is opened once.
 */
export class HeldPaths {
  readonly #root: string;
  readonly #held: { readonly name: BytePath; readonly handle: FileHandle }[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** Reads the file or link at a path, up to a size. */
  async read(path: BytePath, bytesMax: number): Promise<Found> {
    const names = path.split('/');
    const name = names.pop()!;
    const parent = await this.hold(names);
    return parent === undefined ? { type: 'missing' } : await readAt(toPath(parent, name), bytesMax);
  }

  async close(): Promise<void> {
    for (const { handle } of this.#held.splice(0)) await handle.close();
  }

  /**
   * Opens the directory with these names and returns a path to it. Undefined if it does not exist, or a part of it is not a
   * directory. With `makes`, missing directories are created.
   */
  async hold(names: readonly BytePath[], { makes = false } = {}): Promise<Buffer | undefined> {
    const wanted = ['', ...names];
    const shared = this.#held.findIndex(({ name }, at) => name !== wanted[at]);
    for (const { handle } of this.#held.splice(shared === -1 ? wanted.length : shared)) await handle.close();
    for (const name of wanted.slice(this.#held.length)) {
      const parent = this.#held.at(-1);
      const path = parent === undefined ? Buffer.from(this.#root) : toPath(this.#base(this.#held.length), name);
      const handle = (await openDirectory(path)) ?? (makes ? await makeDirectory(path) : undefined);
      if (handle === undefined) return undefined;
      this.#held.push({ name, handle });
    }
    return this.#base(wanted.length);
  }

  /** The path of the directory at a depth: through its descriptor if the system has such paths. */
  #base(depth: number): Buffer {
    const { handle } = this.#held[depth - 1]!;
    if (CAN_HOLD) return Buffer.from(`/proc/self/fd/${handle.fd}`);
    const names = this.#held.slice(1, depth).map(({ name }) => toPathBytes(`/${name}`));
    return Buffer.concat([Buffer.from(this.#root), ...names]);
  }
}

const CAN_HOLD = existsSync('/proc/self/fd');

async function makeDirectory(path: Buffer): Promise<FileHandle | undefined> {
  await mkdir(path).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error;
  });
  return await openDirectory(path);
}

/** The path of a name in a directory. */
export function toPath(directory: Buffer, name: BytePath): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), toPathBytes(name)]);
}

async function openDirectory(path: Buffer): Promise<FileHandle | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if (CAN_HOLD || (await realpath(path, 'buffer')).equals(path)) return handle;
    await handle.close();
    return undefined;
  } catch (error) {
    if (isCode(error, ...NOT_THERE, 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}

async function readAt(path: Buffer, bytesMax: number): Promise<Found> {
  try {
    // Non-blocking, because opening a pipe would wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await readHandle(handle, bytesMax);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isCode(error, 'ELOOP')) return await readLinkAt(path);
    if (isCode(error, ...NOT_THERE)) return { type: 'missing' };
    // A socket cannot be opened.
    if (isCode(error, 'ENXIO')) return { type: 'special' };
    if (isCode(error, 'EACCES', 'EPERM')) return await describeUnreadable(path);
    throw error;
  }
}

async function readHandle(handle: FileHandle, bytesMax: number): Promise<Found> {
  const stats = await handle.stat({ bigint: true });
  if (stats.isDirectory()) return { type: 'directory' };
  if (!stats.isFile()) return { type: 'special' };
  if (stats.size > bytesMax) return { type: 'too_large', stats };
  const content = await readUpTo(handle, Number(stats.size), bytesMax);
  // The file has grown in the meantime.
  if (content === undefined) return { type: 'too_large', stats };
  const isExecutable = (stats.mode & 0o100n) !== 0n;
  return { type: 'file', isExecutable, content, changedAt: Number(stats.ctimeMs) };
}

/** Reads the whole content, even if the file grows or shrinks in the meantime. Undefined if the file is too large. */
async function readUpTo(handle: FileHandle, expected: number, bytesMax: number): Promise<Buffer | undefined> {
  let buffer = Buffer.allocUnsafe(expected + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0) return buffer.subarray(0, length);
    if (length > bytesMax) return undefined;
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}

async function readLinkAt(path: Buffer): Promise<Found> {
  try {
    // Read before the content, so that a later change has a later time.
    const { ctimeMs: changedAt } = await lstat(path);
    return { type: 'link', content: await readlink(path, 'buffer'), changedAt };
  } catch (error) {
    // The path is not a link any more; the next record finds its new type.
    if (isCode(error, ...NOT_THERE, 'EINVAL')) return { type: 'missing' };
    throw error;
  }
}

async function describeUnreadable(path: Buffer): Promise<Found> {
  const stats = await lstat(path).catch(() => undefined);
  return { type: stats === undefined ? 'missing' : 'unreadable' };
}

const NOT_THERE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
