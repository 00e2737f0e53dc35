import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { storeError } from '../store-errors.ts';

/**
 * Syncs commits to the disk outside of the event loop: a sync takes milliseconds, and sometimes many. One
 * sync covers everything that was committed before it began, and one is in progress at a time.
 *
 * SQLite does the rest itself. In its mode NORMAL a file is never broken, whatever happens when; all that it leaves out is
 * this sync of its log behind each commit.
 */
export class WalSync {
  readonly #path: string;
  readonly #sync: (file: number) => Promise<void>;
  #file: number | undefined;
  #written = 0;
  #synced = 0;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;

  /** `path` is that of the write-ahead log. The file exists after the first commit. */
  constructor(path: string, sync: (file: number) => Promise<void> = syncFile) {
    this.#path = path;
    this.#sync = sync;
  }

  /** Called after each commit. */
  note(): void {
    this.#written++;
  }

  /** Resolves when all commits so far are on disk. Undefined: they are. */
  settle(): Promise<void> | undefined {
    return this.#synced < this.#written ? this.#reach(this.#written) : undefined;
  }

  /** Throws after a failed sync: the content of the disk is unknown, and another sync would not report it. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  async #reach(wanted: number): Promise<void> {
    while (this.#synced < wanted) await (this.#running ??= this.#run());
  }

  async #run(): Promise<void> {
    const upTo = this.#written;
    try {
      this.check();
      this.#file ??= openLog(this.#path);
      await this.#sync(this.#file);
      this.#synced = upTo;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#failure ??= storeError('store_failed', `the disk failed, start the server again (${reason})`, cause);
      throw this.#failure;
    } finally {
      this.#running = undefined;
    }
  }
}

/**
 * Called after the first commit, because the file does not exist before. SQLite holds no locks on this file that closing it
 * could release. The directory is synced as well, or a complete file might not be found again.
 */
function openLog(path: string): number {
  const file = openSync(path, 'r+');
  if (process.platform === 'win32') return file; // there a directory cannot be opened, nor has it to be
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
  return file;
}

function syncFile(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}
