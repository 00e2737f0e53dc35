import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Locks } from '../../locks.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { closing, type Directory, isCode } from '../../workspace/directory.ts';
import { type ResolvedPath, withResolvedPath } from '../../workspace/resolve-path.ts';
import { readUpTo } from './read-up-to.ts';

export interface WorkspaceFilesOptions {
  readonly locks: Locks;
  readonly linksMax: number;
  readonly isHeld?: boolean;
}

/** Access to the files of a workspace, and to no other files. */
export class WorkspaceFiles {
  readonly #options: WorkspaceFilesOptions;

  constructor(options: WorkspaceFilesOptions) {
    this.#options = options;
  }

  /** Opens a file for reading. Rejects pipes, devices and directories. */
  async read<Result>(
    workspace: string,
    path: string,
    work: (file: { handle: FileHandle; bytes: number }) => Promise<Result>,
  ): Promise<Result> {
    return await withResolvedPath(workspace, path, this.#options, (resolved) => readResolved(resolved, path, work));
  }

  /** Replaces a file atomically: a reader sees either the whole old content or the whole new content. Keeps the mode. */
  async write(workspace: string, path: string, content: string): Promise<void> {
    await withResolvedPath(workspace, path, { ...this.#options, makesParents: true }, async (resolved) => {
      checkReplaceable(resolved, path);
      await this.#locked(workspace, resolved, () => this.#replace(resolved, content));
    });
  }

  /** Like `write`, with content computed from the present one. No other tool call of this session changes the file in between. */
  async change(workspace: string, path: string, bytesMax: number, change: (content: Buffer) => Buffer): Promise<void> {
    await withResolvedPath(workspace, path, this.#options, async (found) => {
      await this.#locked(workspace, found, async () => {
        const resolved = { ...found, stats: await found.directory.stat(found.name) };
        checkReplaceable(resolved, path);
        const content = await readResolved(resolved, path, async ({ handle, bytes }) => {
          if (bytes > bytesMax) {
            throw new ToolFailure(`${path} has ${bytes} bytes, and only ${bytesMax} can be edited: use bash`);
          }
          return checkText(await readUpTo(handle, bytes), path);
        });
        await this.#replace(resolved, change(content));
      });
    });
  }

  /** Creates a file that must not exist yet. */
  async create(workspace: string, path: string, content: string): Promise<'created' | 'exists'> {
    return await withResolvedPath(
      workspace,
      path,
      { ...this.#options, makesParents: true },
      async ({ directory, name }) => {
        try {
          const created = await directory.openFile(name, CREATE_FLAGS, 0o666);
          await closing(created, async (handle) => await handle.writeFile(content));
          return 'created';
        } catch (error) {
          if (isCode(error, 'EEXIST')) return 'exists';
          throw error;
        }
      },
    );
  }

  /** Opens a directory for `work`. If the path is a file, opens its directory and passes its name as `file`. */
  async search<Result>(
    workspace: string,
    path: string,
    work: (found: { directory: Directory; file: string | undefined }) => Promise<Result>,
  ): Promise<Result> {
    return await withResolvedPath(workspace, path, this.#options, async ({ directory, name, stats }) => {
      if (stats === undefined) throw new ToolFailure(`${path}: there is no such file or directory`);
      if (name === '.') return await work({ directory, file: undefined });
      if (stats.isFile()) return await work({ directory, file: name });
      if (!stats.isDirectory()) throw new ToolFailure(`${path} is neither a file nor a directory`);
      const opened = await directory.openDirectory(name);
      return await closing(opened, async (inner) => await work({ directory: inner, file: undefined }));
    });
  }

  async #locked<Result>(workspace: string, resolved: ResolvedPath, work: () => Promise<Result>): Promise<Result> {
    return await this.#options.locks.hold(`${workspace}/${resolved.path}`, work);
  }

  async #replace({ directory, name, stats }: ResolvedPath, content: string | Buffer): Promise<void> {
    const temporary = await this.#writeTemporary(directory, content, stats);
    try {
      await directory.rename(temporary, name);
    } catch (error) {
      await directory.remove(temporary);
      throw error;
    }
  }

  async #writeTemporary(directory: Directory, content: string | Buffer, like: ResolvedPath['stats']): Promise<string> {
    const name = `.fleetloom-${crypto.randomUUID()}.tmp`;
    const handle = await directory.openFile(name, CREATE_FLAGS, 0o666);
    try {
      await handle.writeFile(content);
      if (like !== undefined) await keepLooks(handle, like);
      // Without this a power failure can leave an empty file under the new name.
      await handle.sync();
    } catch (error) {
      await handle.close();
      await directory.remove(name);
      throw error;
    }
    await handle.close();
    return name;
  }
}

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

async function readResolved<Result>(
  { directory, name, stats }: ResolvedPath,
  path: string,
  work: (file: { handle: FileHandle; bytes: number }) => Promise<Result>,
): Promise<Result> {
  if (stats === undefined) throw new ToolFailure(`${path}: there is no such file or directory`);
  // Checked before opening, because opening a device can have effects, and after, because the file may have been replaced.
  checkRegular(stats, path);
  return await closing(await directory.openFile(name, constants.O_RDONLY), async (handle) => {
    const opened = await handle.stat();
    checkRegular(opened, path);
    return await work({ handle, bytes: opened.size });
  });
}

function checkReplaceable({ name, stats }: ResolvedPath, path: string): void {
  if (name === '.') throw new ToolFailure(`${path} is the workspace itself, a directory`);
  if (stats !== undefined) checkRegular(stats, path);
}

function checkRegular(stats: { isDirectory(): boolean; isFile(): boolean }, path: string): void {
  if (stats.isDirectory()) throw new ToolFailure(`${path} is a directory: use glob to see what is in it`);
  if (!stats.isFile()) throw new ToolFailure(`${path} is not a regular file`);
}

/** Keeps the mode of a replaced file, and its owner if this process may set it. */
async function keepLooks(handle: FileHandle, like: NonNullable<ResolvedPath['stats']>): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== like.uid || own.gid !== like.gid) {
    try {
      await handle.chown(like.uid, like.gid);
    } catch (error) {
      // Only root may change owners, and in the sandbox other users have no id. Writing the content is more important than the owner.
      if (!isCode(error, 'EPERM', 'EINVAL')) throw error;
    }
  }
  // Drops setuid and setgid, with which the file would run as the user of the server.
  await handle.chmod(like.mode & 0o777);
}

/** Rejects files whose bytes would change when they are written back. */
function checkText(bytes: Buffer, path: string): Buffer {
  if (isUtf8(bytes)) return bytes;
  throw new ToolFailure(`${path} is not a text file in UTF-8: use bash to change it`);
}
