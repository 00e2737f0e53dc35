import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { storeError } from '../store-errors.ts';

/**
 * Brings what was committed to the disk, beside the event loop: a disk takes milliseconds for it, and sometimes many. One
 * sync is for everything that was committed before it began, and one is under way at a time.
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

  /** `path`: of the log that is written ahead. It is there once something was committed. */
  constructor(path: string, sync: (file: number) => Promise<void> = syncFile) {
    this.#path = path;
    this.#sync = sync;
  }

  /** Something was committed. */
  note(): void {
    this.#written++;
  }

  /** Until everything that was committed by now is on the disk. Undefined: it is. */
  settle(): Promise<void> | undefined {
    return this.#synced < this.#written ? this.#reach(this.#written) : undefined;
  }

  /** What a sync failed for is lost for good: what is on the disk is unknown, and another sync would not show it. */
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
 * Only when something was committed, because it is not there before. SQLite keeps no locks on this file that closing it
 * could lose. Its name has to be on the disk too, or a file that is all there could not be found again.
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
