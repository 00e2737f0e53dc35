/** Picks lines from chunks of bytes, and holds only these lines. A newline at the end of a file does not begin a line. */
export class LineRange {
  readonly #first: number;
  readonly #last: number;
  readonly #bytesMax: number;
  readonly #picked: Buffer[] = [];
  #bytes = 0;
  /** The line that the next byte belongs to. */
  #line = 1;
  /** Whether the current line has a byte yet. */
  #isBegun = false;
  /** Whether a line was picked: a newline is added only before a further picked line. */
  #hasPicked = false;

  constructor({ first, last }: { first: number; last: number }, bytesMax: number) {
    this.#first = Math.max(1, first);
    this.#last = last <= 0 ? Number.POSITIVE_INFINITY : last;
    this.#bytesMax = bytesMax;
  }

  get isDone(): boolean {
    return this.#line > this.#last || this.isTooLong;
  }

  get isTooLong(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  /** The number of lines read so far. */
  get lines(): number {
    return this.#isBegun ? this.#line : this.#line - 1;
  }

  add(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.isDone) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.length : newline;
      if (this.#line >= this.#first) this.#pick(chunk.subarray(at, end));
      this.#isBegun = newline === -1;
      if (newline !== -1) this.#line++;
      at = end + 1;
    }
  }

  /** Takes the picked lines; undefined if the file has none of the requested lines. */
  take(): Buffer | undefined {
    return this.#hasPicked ? Buffer.concat(this.#picked) : undefined;
  }

  #pick(part: Buffer): void {
    if (this.#hasPicked && !this.#isBegun) this.#keep(SEPARATOR);
    this.#hasPicked = true;
    this.#keep(part);
  }

  #keep(part: Buffer): void {
    // Copied, because the buffer of a chunk is reused for the next one.
    this.#picked.push(Buffer.from(part));
    this.#bytes += part.length;
  }
}

const NEWLINE = 0x0a;
const SEPARATOR = Buffer.from('\n');
