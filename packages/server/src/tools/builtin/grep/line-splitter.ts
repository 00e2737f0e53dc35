/** A line of a file, or the searched beginning of a longer line. */
export interface Line {
  /** The line number, from 1. */
  readonly number: number;
  readonly text: string;
  readonly isCut: boolean;
}

/** Splits chunks of bytes into lines, and holds at most the beginning of one line. A newline at the end does not begin a line. */
export class LineSplitter {
  readonly #bytesMax: number;
  readonly #onLine: (line: Line) => void;
  /** The beginning of the line that the next byte belongs to. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isCut = false;
  #number = 1;

  constructor(bytesMax: number, onLine: (line: Line) => void) {
    this.#bytesMax = bytesMax;
    this.#onLine = onLine;
  }

  /** Adds a chunk. Its buffer may be reused afterwards. */
  add(chunk: Buffer): void {
    let at = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, at)) {
      this.#hold(chunk.subarray(at, newline));
      this.#endLine();
      at = newline + 1;
    }
    if (at < chunk.length) this.#hold(Buffer.from(chunk.subarray(at)));
  }

  /** Called after the last chunk. */
  end(): void {
    if (this.#held.length > 0) this.#endLine();
  }

  #hold(part: Buffer): void {
    const kept = part.subarray(0, this.#bytesMax - this.#heldBytes);
    this.#isCut ||= kept.length < part.length;
    this.#heldBytes += kept.length;
    this.#held.push(kept);
  }

  #endLine(): void {
    const bytes = this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held);
    const isBegin = this.#number === 1;
    // A byte order mark at the beginning of a file is not part of its text.
    const text = new TextDecoder('utf-8', { ignoreBOM: !isBegin }).decode(bytes);
    this.#onLine({ number: this.#number++, text: text.endsWith('\r') ? text.slice(0, -1) : text, isCut: this.#isCut });
    this.#held = [];
    this.#heldBytes = 0;
    this.#isCut = false;
  }
}

const NEWLINE = 0x0a;
