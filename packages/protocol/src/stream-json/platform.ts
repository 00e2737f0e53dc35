/**
 * Two things that Node's Buffer does faster than what every platform has: UTF-8 to text without a view per line, and
 * comparing bytes. Nothing of Node is imported: a bundle for browsers finds no Buffer and takes the other way. A test holds
 * both against each other.
 */
export interface Platform {
  /** The same bytes in the form that the other functions are fastest with. */
  wrap(bytes: Uint8Array): Uint8Array;
  /** UTF-8 to text, with U+FFFD for what is no UTF-8. U+FEFF is kept: inside a line it is content. */
  text(bytes: Uint8Array, start: number, end: number): string;
  /** Whether `length` bytes from `aStart` and from `bStart` are the same. */
  equal(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean;
}

/** What is used of Node's Buffer. */
interface NodeBuffer extends Uint8Array {
  toString(encoding?: 'utf8', start?: number, end?: number): string;
  compare(target: Uint8Array, targetStart: number, targetEnd: number, start: number, end: number): number;
}

interface NodeBufferConstructor {
  new (): NodeBuffer;
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): NodeBuffer;
}

export const webPlatform: Platform = createWebPlatform();

export const platform: Platform = createNodePlatform() ?? webPlatform;

function createWebPlatform(): Platform {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    wrap: (bytes) => bytes,
    text: (bytes, start, end) => utf8.decode(bytes.subarray(start, end)),
    equal: (a, aStart, b, bStart, length) => {
      for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
      return true;
    },
  };
}

function createNodePlatform(): Platform | undefined {
  const { Buffer } = globalThis as { Buffer?: NodeBufferConstructor };
  if (typeof Buffer?.from !== 'function') return undefined;
  const wrap = (bytes: Uint8Array): NodeBuffer =>
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    wrap,
    text: (bytes, start, end) => wrap(bytes).toString('utf8', start, end),
    equal: (a, aStart, b, bStart, length) => wrap(a).compare(b, bStart, bStart + length, aStart, aStart + length) === 0,
  };
}
