/**
 * Collects bytes from outside that are needed as a whole, up to a limit. One growing array instead of a list of chunks:
 * a peer that sends single bytes would otherwise cost about 100 bytes of bookkeeping for each of them.
 *
 * @example
 * const collector = new ByteCollector(limits.bodyBytesMax);
 * for await (const chunk of stream) if (!collector.add(chunk)) throw tooLarge();
 * return collector.bytes();
 */
export class ByteCollector {
  readonly #bytesMax: number;
  #bytes = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a chunk. False: not all of it fits; the part that fits is kept. */
  add(chunk: Uint8Array): boolean {
    const room = this.#bytesMax - this.#length;
    const taken = chunk.length <= room ? chunk : chunk.subarray(0, room);
    const length = this.#length + taken.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(taken, this.#length);
    this.#length = length;
    return taken.length === chunk.length;
  }

  /** Valid until the next call of `add`. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#bytesMax, Math.max(needed, this.#bytes.length * 2, 1_024)));
    grown.set(this.bytes());
    this.#bytes = grown;
  }
}
