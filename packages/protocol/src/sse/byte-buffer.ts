const KEEP_BYTES = 64 * 1024;

/**
 * Bytes that are appended piece by piece and read as a whole.
 *
 * One growing array instead of a list of pieces: a list needs some 100 bytes of overhead per piece, so that a peer that
 * sends single bytes could use a hundred times the limit. Doubling keeps appending linear.
 */
export class ByteBuffer {
  length = 0;
  #bytes = new Uint8Array(0);

  append(source: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(start === 0 && end === source.length ? source : source.subarray(start, end), this.length);
    this.length = length;
  }

  appendByte(byte: number): void {
    if (this.length === this.#bytes.length) this.#grow(this.length + 1);
    this.#bytes[this.length++] = byte;
  }

  /** The bytes, valid until the next call of another method. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
    if (this.#bytes.length > KEEP_BYTES) this.#bytes = new Uint8Array(0);
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2, 256));
    grown.set(this.view());
    this.#bytes = grown;
  }
}
