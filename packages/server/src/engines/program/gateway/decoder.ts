import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** The decoder of a content encoding, `none` for an unencoded response, or undefined for an encoding that this Node does not support. */
export function createDecoder(encoding: string | undefined): Transform | 'none' | undefined {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return 'none';
  return decoders.get(name)?.();
}

/** The content encodings that the program accepts and that this Node can decode. */
export function readableEncodings(accepted: string): string {
  const readable = accepted.split(',').filter((part) => {
    const name = part.split(';')[0]?.trim().toLowerCase() ?? '';
    return name === 'identity' || decoders.has(name);
  });
  return readable.length === 0 ? 'identity' : readable.map((part) => part.trim()).join(', ');
}

// Text must be decoded as soon as enough bytes have arrived, and a response that is cut off must not cause a decoding error.
const asItComes = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const brotliAsItComes = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
};

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip(asItComes)],
  ['x-gzip', () => zlib.createGunzip(asItComes)],
  ['deflate', () => zlib.createInflate(asItComes)],
  ['br', () => zlib.createBrotliDecompress(brotliAsItComes)],
]);
