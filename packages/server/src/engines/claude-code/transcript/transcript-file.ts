import { type LineSink, type StreamJsonMessage, StreamJsonReader } from '@fleetloom/protocol/stream-json';
import { limits } from '../../../base/limits.ts';
import { isOversizedLine } from '../oversized-line.ts';
import { openInside } from './open-inside.ts';

export interface TranscriptFileOptions {
  /** The directory that the file must be in. */
  readonly root: string;
  readonly path: string;
  /** Where reading begins: behind what an earlier process of the program wrote. */
  readonly offset: number;
}

/** A transcript that the program appends to. Each read returns the records that were added since the one before. */
export class TranscriptFile {
  readonly #options: TranscriptFileOptions;
  readonly #reader = new StreamJsonReader({ lineBytesMax: limits.programLineBytesMax });
  #offset: number;
  #changedAt = 0;

  constructor(options: TranscriptFileOptions) {
    this.#options = options;
    this.#offset = options.offset;
  }

  /** When the file was last written to, as of the last read. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** Records beyond `transcriptBytesMax` of the file are not read. A line that cannot be parsed is skipped. */
  async read(): Promise<readonly StreamJsonMessage[]> {
    const { root, path } = this.#options;
    const file = await openInside(root, path);
    if (file === undefined) return [];
    const records: StreamJsonMessage[] = [];
    const sink: LineSink = {
      bytes: isOversizedLine,
      message: (record) => void records.push(record),
      issue: () => {},
    };
    try {
      this.#changedAt = (await file.stat()).mtimeMs;
      while (this.#offset < limits.transcriptBytesMax) {
        const length = Math.min(CHUNK_BYTES, limits.transcriptBytesMax - this.#offset);
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, this.#offset);
        if (bytesRead === 0) break;
        this.#offset += bytesRead;
        this.#reader.read(buffer.subarray(0, bytesRead), sink);
      }
    } finally {
      await file.close();
    }
    return records;
  }
}

const CHUNK_BYTES = 256 * 1024;
