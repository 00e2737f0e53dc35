import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  opendirSync,
  openSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  realpath,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { isMainThread } from 'node:worker_threads';
import { ToolFailure } from '../tool-failure.ts';

/**
 * A directory that is held open, whose entries are accessed through its descriptor and not by its path: a process that replaces
 * one of its parents by a symbolic link has no effect. Node has no `openat`, but on Linux `/proc/self/fd/7/name` is equivalent.
 * Elsewhere paths are compared before and after, which leaves a short race.
 */
export class Directory {
  readonly #handle: Pick<FileHandle, 'close'>;
  readonly #base: string;
  /** The path in the workspace; empty for the workspace itself. */
  readonly path: string;

  private constructor(handle: Pick<FileHandle, 'close'>, base: string, path: string) {
    this.#handle = handle;
    this.#base = base;
    this.path = path;
  }

  static async openRoot(workspace: string, isHeld = canHold): Promise<Directory> {
    const handle = await open(workspace, DIRECTORY_FLAGS);
    return new Directory(handle, isHeld ? `/proc/self/fd/${handle.fd}` : workspace, '');
  }

  /** Opens a directory in this one. Fails for a symbolic link. */
  async openDirectory(name: string): Promise<Directory> {
    const isHeld = this.#base.startsWith(HELD);
    const path = this.#at(name);
    const handle = await open(path, DIRECTORY_FLAGS);
    if (!isHeld && (await realpath(path)) !== path) {
      await handle.close();
      throw new ToolFailure(`${this.pathOf(name)} was moved in the meantime`);
    }
    return new Directory(handle, isHeld ? `${HELD}${handle.fd}` : path, this.pathOf(name));
  }

  /** Opens a file in this directory. Does not follow a symbolic link, and does not wait for the writer of a pipe. */
  async openFile(name: string, flags: number, mode?: number): Promise<FileHandle> {
    return await open(this.#at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  }

  async stat(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.#at(name));
    } catch (error) {
      if (isCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  async readLink(name: string): Promise<string> {
    return await readlink(this.#at(name));
  }

  /** Creates a directory unless it exists. */
  async makeDirectory(name: string): Promise<void> {
    try {
      await mkdir(this.#at(name));
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
  }

  /** Makes a symbolic link. */
  async makeLink(name: string, target: string): Promise<void> {
    await symlink(target, this.#at(name));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.#at(from), this.#at(to));
  }

  /** Moves something from elsewhere on the file system into this directory. */
  async moveIn(from: string, name: string): Promise<void> {
    await rename(from, this.#at(name));
  }

  async remove(name: string): Promise<void> {
    await unlink(this.#at(name));
  }

  /** Removes a directory if it is empty. */
  async removeDirectory(name: string): Promise<void> {
    await rmdir(this.#at(name)).catch((error: unknown) => {
      if (!isCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
    });
  }

  /** Sorted by name. No more than `max`, because some directories have millions. */
  async list(max: number): Promise<Dirent[]> {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(this.#base)) {
      if (entries.length >= max) break;
      entries.push(entry);
    }
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /**
   * As `openDirectory`, on the thread of the caller. For searches of the tool host: what they do with one entry takes a tenth of the
   * time that handing it to another thread takes.
   */
  openDirectoryNow(name: string): Directory {
    const isHeld = this.#base.startsWith(HELD);
    const path = this.#at(name);
    const descriptor = openSync(path, DIRECTORY_FLAGS);
    const handle = { close: async () => closeSync(descriptor) };
    if (!isHeld && realpathSync(path) !== path) {
      closeSync(descriptor);
      throw new ToolFailure(`${this.pathOf(name)} was moved in the meantime`);
    }
    return new Directory(handle, isHeld ? `${HELD}${descriptor}` : path, this.pathOf(name));
  }

  /**
   * As `stat` for each name, on the thread of the caller. The process goes into the directory for it: a path through `/proc` takes the
   * system three times as long as a name.
   */
  statsNow(names: readonly string[]): (Stats | undefined)[] {
    const before = isMainThread && this.#base.startsWith(HELD) ? ownDirectory() : undefined;
    if (before === undefined) return names.map((name) => statNow(this.#at(name)));
    process.chdir(this.#base);
    try {
      return names.map(statNow);
    } finally {
      process.chdir(before);
    }
  }

  /** The entries in the order of the file system, as they are read on the thread of the caller. No more than `max`. */
  *listNow(max: number): Generator<Dirent, void> {
    const directory = opendirSync(this.#base, { bufferSize: ENTRIES_AT_ONCE });
    try {
      for (let count = 0; count < max; count++) {
        const entry = directory.readSync();
        if (entry === null) return;
        yield entry;
      }
    } finally {
      directory.closeSync();
    }
  }

  #at(name: string): string {
    // Not joined with `join`, which would drop `.`, so that the descriptor itself would be accessed, which is a link.
    return `${this.#base}/${name}`;
  }
}

/** Entries that are read with about one system call. */
const ENTRIES_AT_ONCE = 1_024;
const HELD = '/proc/self/fd/';
const canHold = existsSync('/proc/self/fd');
const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The working directory of this process; undefined if it was removed. */
function ownDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

function statNow(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Runs work on something and closes it afterwards, even if the work fails. */
export async function closing<Thing extends { close(): Promise<void> }, Result>(
  thing: Thing,
  work: (thing: Thing) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(thing);
  } finally {
    await thing.close();
  }
}

/** Whether the error has one of these codes, such as `ENOENT`. */
export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
