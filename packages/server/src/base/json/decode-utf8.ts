/**
 * The text of these bytes, for {@link inSlices}: the largest body takes a tenth of a second if it is decoded at once. Throws
 * a TypeError where they are not UTF-8.
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
