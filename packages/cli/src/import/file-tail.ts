import { type FileHandle, open } from 'node:fs/promises';
import { limits } from '../base/limits.ts';
import { readRecord, type TranscriptRecord } from './transcript-record.ts';

/** Reads a growing file line by line and continues where it stopped. A line without a newline is read later. */
export class FileTail {
  readonly #path: string;
  #offset = 0;
  /** The last bytes that were read: unchanged unless the file was replaced or rewritten. */
  #mark: Buffer = Buffer.alloc(0);
  #isReplaced = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether the file no longer contains the bytes that were read. Reading then stops. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** The new lines; undefined for an unreadable line. A deleted file has none. */
  async *read(): AsyncGenerator<TranscriptRecord | undefined, void, undefined> {
    const file = await open(this.#path).catch(() => undefined);
    if (file === undefined) return;
    try {
      this.#isReplaced ||= !(await readMark(file, this.#offset, this.#mark.length)).equals(this.#mark);
      if (this.#isReplaced) return;
      let line: Buffer[] = [];
      let bytes = 0;
      let at = this.#offset;
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, at);
        if (bytesRead === 0) return;
        const chunk = buffer.subarray(0, bytesRead);
        at += bytesRead;
        let start = 0;
        for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
          line.push(chunk.subarray(start, end));
          bytes += end - start;
          start = end + 1;
          this.#offset = at - bytesRead + start;
          yield bytes > limits.importLineBytesMax ? undefined : parse(Buffer.concat(line));
          line = [];
          bytes = 0;
        }
        bytes += chunk.length - start;
        // For a line that is too long, only its length is kept.
        if (bytes <= limits.importLineBytesMax) line.push(chunk.subarray(start));
        else line = [];
      }
    } finally {
      if (!this.#isReplaced) this.#mark = await readMark(file, this.#offset, MARK_BYTES);
      await file.close();
    }
  }
}

/** Reads up to `length` bytes before the offset. */
async function readMark(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Math.min(length, offset);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, offset - bytes);
  return buffer.subarray(0, bytesRead);
}

const MARK_BYTES = 1024;

const CHUNK = 256 * 1024;
const LF = 0x0a;

function parse(line: Buffer): TranscriptRecord | undefined {
  try {
    return readRecord(JSON.parse(line.toString('utf8')));
  } catch {
    // Not JSON: the line is counted as unreadable.
    return undefined;
  }
}
