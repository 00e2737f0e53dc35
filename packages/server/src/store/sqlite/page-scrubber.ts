import { closeSync, fdatasync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/**
 * Overwrites the unused part of the pages of a database file. `secure_delete` overwrites the rows that are deleted, but
 * not the copies that stay behind where SQLite has moved rows within a page to make room: those are in the gap between a
 * page's directory of cells and its cells, which SQLite never reads.
 *
 * The caller makes sure that the file is up to date (no write-ahead log) and that SQLite forgets its copies of the pages.
 */
export class PageScrubber {
  readonly #path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Scrubs up to `pages` pages behind the first `done` ones, and returns how many are done by then. Fewer than asked for:
   * that was the last page of the file.
   */
  scrub(done: number, pages: number): number {
    const file = (this.#file ??= openSync(this.#path, 'r+'));
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return done;
    if (!isPlain(header)) return done;
    const pageBytes = toPageBytes(header.readUInt16BE(16));
    const chunk = Buffer.alloc(pages * pageBytes);
    const read = Math.floor(readSync(file, chunk, 0, chunk.length, done * pageBytes) / pageBytes);
    for (let index = 0; index < read; index++) {
      const page = chunk.subarray(index * pageBytes, (index + 1) * pageBytes);
      const number = done + index;
      const gap = findGap(page, number === 0 ? HEADER_BYTES : 0);
      if (gap === undefined || isZero(page.subarray(gap.start, gap.end))) continue;
      writeSync(file, Buffer.alloc(gap.end - gap.start), 0, gap.end - gap.start, number * pageBytes + gap.start);
    }
    return done + read;
  }

  /** Resolves when the overwritten parts are on disk. */
  async sync(): Promise<void> {
    if (this.#file !== undefined) await promisify(fdatasync)(this.#file);
  }

  /**
   * Only when the database is closed: POSIX releases all locks of a process on a file when the process closes any of its
   * descriptors of that file.
   */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

const HEADER_BYTES = 100;

/** Whether the first byte of a page identifies it: not in files of 128 GiB and more, nor in those that vacuum themselves. */
function isPlain(header: Buffer): boolean {
  return header.readUInt32BE(28) < 2 ** 25 && header.readUInt32BE(52) === 0;
}

function toPageBytes(stored: number): number {
  return stored === 1 ? 65_536 : stored;
}

/**
 * The unused part of a page of a table or an index; undefined for other pages. Those begin with the number of another page,
 * whose first byte is 0 or 1, so no content of theirs can be taken for the type of a page.
 */
function findGap(page: Buffer, at: number): { readonly start: number; readonly end: number } | undefined {
  const cellsAt = CELLS_AT[page[at]!];
  if (cellsAt === undefined) return undefined;
  const start = at + cellsAt + 2 * page.readUInt16BE(at + 3);
  const end = page.readUInt16BE(at + 5) || 65_536;
  return start <= end && end <= page.length ? { start, end } : undefined;
}

/** Where the directory of cells begins, by the type of a page: of an index or a table, inner pages and leaves. */
const CELLS_AT: Readonly<Record<number, number | undefined>> = { 2: 12, 5: 12, 10: 8, 13: 8 };

function isZero(bytes: Buffer): boolean {
  // Each byte is the same as the one before it.
  return bytes.length === 0 || (bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1)));
}
