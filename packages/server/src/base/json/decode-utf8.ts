/**
 * Decodes bytes, for {@link inSlices}: decoding the largest body at once takes 100 ms. Throws
 * a TypeError if they are not UTF-8.
 */
export function* decodeUtf8(bytes: Uint8Array): Generator<void, string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    pieces.push(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }));
    yield;
  }
  pieces.push(decoder.decode());
  return pieces.join('');
}

const PIECE_BYTES = 512 * 1024;
