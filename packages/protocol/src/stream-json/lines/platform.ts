/**
 * Node's Buffer turns UTF-8 into text without a view per line, which is faster than what every platform has. Nothing of Node
 * is imported: a bundle for browsers finds no Buffer and takes the other way. A test holds both against each other.
 */
export interface Platform {
  /** The same bytes in the form that `text` is fastest with. */
  wrap(bytes: Uint8Array): Uint8Array;
  /** UTF-8 to text of wrapped bytes, with U+FFFD for invalid UTF-8. U+FEFF is kept: inside a line it is content. */
  text(bytes: Uint8Array, start: number, end: number): string;
}

/** The used part of Node's Buffer. */
interface NodeBuffer extends Uint8Array {
  /** The implementation of `toString('utf8', start, end)`, without its checks. */
  utf8Slice(start: number, end: number): string;
}

interface NodeBufferConstructor {
  prototype?: NodeBuffer;
  new (): NodeBuffer;
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): NodeBuffer;
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The implementation for every platform. */
export const webPlatform: Platform = {
  wrap: (bytes) => bytes,
  text: (bytes, start, end) => utf8.decode(bytes.subarray(start, end)),
};

const { Buffer } = globalThis as { Buffer?: NodeBufferConstructor };

/** The fastest implementation on this platform. */
export const platform: Platform = Buffer?.prototype?.utf8Slice
  ? {
      wrap: (bytes) => (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
      // The cast: `wrap` has created a Buffer.
      text: (bytes, start, end) => (bytes as NodeBuffer).utf8Slice(start, end),
    }
  : webPlatform;
