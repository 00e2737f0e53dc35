import { open } from 'node:fs/promises';
import { limits } from '../limits.ts';
import { readRecord, type TranscriptRecord } from './transcript-record.ts';

/** Reads a file that grows, line by line, and goes on where it was. What has no end of line yet is left for later. */
export class FileTail {
  readonly #path: string;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines that are there now; undefined for one that cannot be read. A file that is gone has none. */
  async *read(): AsyncGenerator<TranscriptRecord | undefined, void, undefined> {
    const file = await open(this.#path).catch(() => undefined);
    if (file === undefined) return;
    try {
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
      await file.close();
    }
  }
}

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
