import { type FileHandle, open } from 'node:fs/promises';
import { limits } from '../limits.ts';
import { readRecord, type TranscriptRecord } from './transcript-record.ts';

/** Reads a file that grows, line by line, and goes on where it was. What has no end of line yet is left for later. */
export class FileTail {
  readonly #path: string;
  #offset = 0;
  /** The last bytes that were read: they are still there unless the file was replaced or rewritten. */
  #mark: Buffer = Buffer.alloc(0);
  #isReplaced = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file no longer begins with what was read from it. Nothing more is read. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** The lines that are there now; undefined for one that cannot be read. A file that is gone has none. */
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
        // Of one that is too long nothing has to be kept but how long it is.
        if (bytes <= limits.importLineBytesMax) line.push(chunk.subarray(start));
        else line = [];
      }
    } finally {
      if (!this.#isReplaced) this.#mark = await readMark(file, this.#offset, MARK_BYTES);
      await file.close();
    }
  }
}

/** So many bytes before the offset, as far as the file has them. */
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
    // No JSON: one line is lost, and counted.
    return undefined;
  }
}
