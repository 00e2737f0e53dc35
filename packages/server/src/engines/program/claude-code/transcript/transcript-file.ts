import type { FileHandle } from 'node:fs/promises';
import { parseLine, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { JsonGauge } from '../../../../base/json/json-gauge.ts';
import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';
import { yieldToEventLoop } from '../../../../base/yield-to-event-loop.ts';
import { openInside } from './open-inside.ts';
import { ReadSlots } from './read-slots.ts';

/** Options of reading a transcript. */
export interface TranscriptFileOptions {
  /** The directory that the file must be in. */
  readonly root: string;
  readonly path: string;
  /** The byte at which reading begins: the end of what an earlier process of the program wrote. */
  readonly offset: number;
}

/** The decision after a record: continue, end this read after the record, or end it before the record and read the record again next time. */
export type Verdict = 'continue' | 'stop' | 'refuse';

/** Takes one record of a transcript and decides whether to read on. */
export type TakeRecord = (transcribed: StreamJsonMessage, bytes: number) => Verdict;

/**
 * A transcript that the program appends to, and that its agent can write to as well. Records are passed on one by one, in
 * slices of the event loop, and no content of the file is kept between two reads.
 */
export class TranscriptFile {
  readonly #options: TranscriptFileOptions;
  #offset: number;
  #lines = 0;
  #changedAt = 0;
  /** The size of the file when all of it was read; undefined if the last read did not reach the end. */
  #sizeRead: number | undefined;
  #isSkipping = false;
  #isCut = false;
  #isReadable = true;
  #skipped = 0;

  constructor(options: TranscriptFileOptions) {
    this.#options = options;
    this.#offset = options.offset;
  }

  /** When the file was last written to, as of the last read. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** Whether the file has more bytes or lines than the limits of reading. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** False if the last read could not open the file: it is not a regular file inside the directory, or not readable for this server. */
  get isReadable(): boolean {
    return this.#isReadable;
  }

  /** Number of records that were not parsed because of too many bytes, JSON values or levels. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Reads the records that were added since the last read. A line that cannot be parsed is skipped. */
  async read(take: TakeRecord): Promise<void> {
    if (!this.#isCut) await slots.run(() => this.#read(take));
  }

  async #read(take: TakeRecord): Promise<void> {
    const file = await openInside(this.#options.root, this.#options.path);
    this.#isReadable = file !== undefined;
    if (file === undefined) return;
    try {
      const { mtimeMs, size } = await file.stat();
      this.#changedAt = mtimeMs;
      if (size === this.#sizeRead) return;
      this.#sizeRead = undefined;
      if (await this.#readPieces(file, take)) this.#sizeRead = size;
    } finally {
      await file.close();
    }
  }

  /** Reads the file in pieces. True if the end of the file was reached. */
  async #readPieces(file: FileHandle, take: TakeRecord): Promise<boolean> {
    for (let length = PIECE_BYTES; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, this.#offset);
      const piece = buffer.subarray(0, bytesRead);
      const isEnd = bytesRead < length;
      if (piece.includes(LF)) {
        if (!(await this.#takeLines(piece, take))) return false;
        length = PIECE_BYTES;
      } else if (this.#isBeyond(bytesRead)) return false;
      else if (this.#isSkipping || bytesRead > programLimits.programLineBytesMax) this.#skip(bytesRead);
      else length = Math.min(4 * length, programLimits.programLineBytesMax + 1);
      if (isEnd) return true;
      await yieldToEventLoop();
    }
  }

  /** Takes the lines of a piece. False if reading ends before the end of the piece. */
  async #takeLines(piece: Buffer, take: TakeRecord): Promise<boolean> {
    let start = 0;
    for (let end = piece.indexOf(LF); end !== -1; end = piece.indexOf(LF, start)) {
      if (this.#isBeyond(end + 1 - start, 1)) return false;
      const verdict = await this.#takeLine(piece.subarray(start, end), take);
      if (verdict === 'refuse') return false;
      this.#offset += end + 1 - start;
      this.#lines++;
      start = end + 1;
      if (verdict === 'stop') return false;
      const pause = yieldToEventLoop();
      if (pause !== undefined) await pause;
    }
    return true;
  }

  async #takeLine(line: Buffer, take: TakeRecord): Promise<Verdict> {
    const isRest = this.#isSkipping;
    this.#isSkipping = false;
    if (isRest || line.length === 0) return 'continue';
    gauge.reset();
    gauge.push(line);
    const isTooLarge =
      line.length > programLimits.programLineBytesMax || gauge.values > programLimits.programLineValuesMax;
    if (isTooLarge || gauge.depth > baseLimits.contentDepthMax) {
      this.#skipped++;
      return 'continue';
    }
    const pause = yieldToEventLoop();
    if (pause !== undefined) await pause;
    const transcribed = parseLine(line.toString());
    return transcribed === null ? 'continue' : take(transcribed, line.length);
  }

  #isBeyond(bytes: number, lines = 0): boolean {
    const isLong = this.#offset + bytes - this.#options.offset > programLimits.transcriptBytesMax;
    this.#isCut = isLong || this.#lines + lines > programLimits.transcriptLinesMax;
    return this.#isCut;
  }

  /** Skips bytes of a line that is longer than the limit and whose end was not found yet. */
  #skip(bytes: number): void {
    if (!this.#isSkipping) this.#skipped++;
    this.#isSkipping = true;
    this.#offset += bytes;
  }
}

const LF = 0x0a;
const PIECE_BYTES = 256 * 1024;

/** Shared by all reads: each use ends within one turn of the event loop. */
const gauge = new JsonGauge();

/** Limits concurrent reads of the whole process: each has a piece of a file, or one long line, in memory. */
const slots = new ReadSlots(programLimits.transcriptReadsMax);
