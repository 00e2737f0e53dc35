/**
 * The end of the output of a shell, up to a mark that it writes after each command. However long the output is, no more than the
 * last `bytesMax` bytes and two chunks are held.
 */
export class OutputTail {
  readonly #bytesMax: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    const last = this.#chunks.at(-1);
    // Small pieces are joined, so that there are few of them and a mark is never in more than two.
    if (last !== undefined && last.length < PIECE_BYTES) this.#chunks.splice(-1, 1, Buffer.concat([last, chunk]));
    else this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#chunks.length > 2 && this.#bytes - (this.#chunks[0]?.length ?? 0) >= this.#bytesMax) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
      this.#isCut = true;
    }
  }

  /** Takes the output before the mark, and the value in the mark. Output after the mark is kept for the next command. */
  takeUntilMark(name: string): { text: string; value: string } | undefined {
    const begin = Buffer.from(`\0${name}:`);
    const [before = EMPTY, last = EMPTY] =
      this.#chunks.length === 1 ? [EMPTY, ...this.#chunks] : this.#chunks.slice(-2);
    const overlap = Math.min(before.length, PIECE_BYTES);
    const recent = Buffer.concat([before.subarray(before.length - overlap), last]);
    const at = recent.indexOf(begin);
    const end = at === -1 ? -1 : recent.indexOf(0, at + begin.length);
    if (end === -1) return undefined;
    const value = recent.toString('latin1', at + begin.length, end);
    const all = Buffer.concat(this.#chunks);
    const text = toText(all.subarray(0, all.length - recent.length + at), this.#bytesMax, this.#isCut);
    this.#reset([Buffer.from(recent.subarray(end + 1))]);
    return { text, value };
  }

  /** Takes the whole output. */
  take(): string {
    const text = toText(Buffer.concat(this.#chunks), this.#bytesMax, this.#isCut);
    this.#reset([]);
    return text;
  }

  #reset(chunks: Buffer[]): void {
    this.#chunks = chunks;
    this.#bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    this.#isCut = false;
  }
}

const EMPTY = Buffer.alloc(0);
const PIECE_BYTES = 4_096;

function toText(bytes: Buffer, bytesMax: number, wasCut: boolean): string {
  const isCut = wasCut || bytes.length > bytesMax;
  const kept = isCut ? dropHalfCharacter(bytes.subarray(-bytesMax)) : bytes;
  const text = new TextDecoder()
    .decode(kept)
    .replace(COLOURS, '')
    .replace(/(?<!\n)\n+$/, '');
  return isCut ? `[only the last ${bytesMax} bytes of the output are kept]\n${text}` : text;
}

/** Drops the rest of a truncated character, which would be shown as up to three replacement characters. */
function dropHalfCharacter(bytes: Buffer): Buffer {
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return bytes.subarray(at);
}

/** Escape sequences of terminals for colours and cursor movements. */
// oxlint-disable-next-line no-control-regex -- sequences begin with the escape character
const COLOURS = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;
