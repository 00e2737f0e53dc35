/**
 * Reads messages between the server and a tool host: JSON in UTF-8, each after its length in four bytes. Both sides reject a
 * message by its length, before they hold or parse any of it.
 */
export class MessageReader {
  readonly #bytesMax: number;
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  #lengthFilled = 0;
  #message: Buffer | undefined;
  #messageFilled = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The messages that end in this chunk. Throws a {@link MessageTooLarge}, after which the stream cannot be read on. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let at = 0;
    while (at < chunk.length) {
      at += this.#message === undefined ? this.#takeLength(chunk, at) : this.#takeMessage(this.#message, chunk, at);
      if (this.#message !== undefined && this.#messageFilled === this.#message.length) {
        messages.push(this.#message);
        this.#message = undefined;
      }
    }
    return messages;
  }

  #takeLength(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#length, this.#lengthFilled, at);
    this.#lengthFilled += taken;
    if (this.#lengthFilled === LENGTH_BYTES) {
      const bytes = this.#length.readUInt32BE();
      if (bytes > this.#bytesMax) throw new MessageTooLarge(bytes, this.#bytesMax);
      this.#lengthFilled = 0;
      this.#messageFilled = 0;
      // Allocated at once: collecting chunks of one byte would take a hundred times as much memory.
      this.#message = Buffer.allocUnsafeSlow(bytes);
    }
    return taken;
  }

  #takeMessage(message: Buffer, chunk: Buffer, at: number): number {
    const taken = chunk.copy(message, this.#messageFilled, at);
    this.#messageFilled += taken;
    return taken;
  }
}

/** The message exceeds the limit of the pipe, and was not sent. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
  readonly bytes: number;

  constructor(bytes: number, bytesMax: number) {
    super(`a message has ${bytes} bytes, and at most ${bytesMax} are allowed`);
    this.bytes = bytes;
  }
}

/** A message as it is sent. Throws a {@link MessageTooLarge}. */
export function encodeMessage(message: object, bytesMax: number): Buffer {
  const json = JSON.stringify(message);
  const bytes = Buffer.byteLength(json);
  if (bytes > bytesMax) throw new MessageTooLarge(bytes, bytesMax);
  const encoded = Buffer.allocUnsafe(LENGTH_BYTES + bytes);
  encoded.writeUInt32BE(bytes);
  encoded.write(json, LENGTH_BYTES);
  return encoded;
}

const LENGTH_BYTES = 4;
