/** Picks lines from chunks of bytes, and holds no more than those. A newline at the end of a file begins no line. */
export class LineRange {
  readonly #first: number;
  readonly #last: number;
  readonly #bytesMax: number;
  readonly #picked: Buffer[] = [];
  #bytes = 0;
  /** The line that the next byte belongs to. */
  #line = 1;
  /** Whether that line has a byte yet. */
  #isBegun = false;
  /** The newline after a picked line belongs to it only when another one follows. */
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

  /** How many lines were seen. */
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

  /** `undefined` where the file has none of the lines. */
  take(): Buffer | undefined {
    return this.#hasPicked ? Buffer.concat(this.#picked) : undefined;
  }

  #pick(part: Buffer): void {
    if (this.#hasPicked && !this.#isBegun) this.#keep(SEPARATOR);
    this.#hasPicked = true;
    this.#keep(part);
  }

  #keep(part: Buffer): void {
    // A copy, because the buffer of a chunk is used for the next one.
    this.#picked.push(Buffer.from(part));
    this.#bytes += part.length;
  }
}

const NEWLINE = 0x0a;
const SEPARATOR = Buffer.from('\n');
