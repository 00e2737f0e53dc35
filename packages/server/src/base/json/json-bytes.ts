/**
 * An upper bound for the size of the value as JSON, computed from lengths alone. Nearly every value is far below every
 * limit, so it need not be serialised to be checked. The value must not be nested too deep for serialising.
 */
export function jsonBytesAtMost(value: unknown): number {
  // The longest character is a control character or half a surrogate pair, written as `\u0001`.
  if (typeof value === 'string') return 6 * value.length + 2;
  // The longest number is -1.2345678901234567e-300.
  if (typeof value !== 'object' || value === null) return 24;
  let bytes = 2;
  for (const [key, part] of Object.entries(value)) bytes += 6 * key.length + 4 + jsonBytesAtMost(part);
  return bytes;
}

/**
 * The size of the value as JSON if it exceeds the limit, or at least one byte more than the limit; undefined if it does
 * not. A value far below or far above the limit is not serialised; of others no more than the limit is.
 */
export function findExcessBytes(value: unknown, bytesMax: number): number | undefined {
  if (jsonBytesAtMost(value) <= bytesMax) return undefined;
  const atLeast = jsonBytesAtLeast(value);
  if (atLeast > bytesMax) return atLeast;
  const bytes = countJsonBytes(value, bytesMax);
  return bytes > bytesMax ? bytes : undefined;
}

/** Counts the bytes of the value as JSON until the limit is exceeded. Its nesting must be checked before. */
function countJsonBytes(value: unknown, bytesMax: number): number {
  if (typeof value === 'string') return countTextBytes(value, bytesMax);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 'null'.length;
  const isList = Array.isArray(value);
  let bytes = 2;
  let parts = 0;
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined && !isList) continue;
    bytes += (parts++ > 0 ? 1 : 0) + (isList ? 0 : countTextBytes(key, bytesMax) + 1);
    if (bytes > bytesMax) break;
    bytes += countJsonBytes(part, bytesMax - bytes);
  }
  return bytes;
}

function countTextBytes(text: string, bytesMax: number): number {
  if (text.length <= PIECE_CHARS) return Buffer.byteLength(JSON.stringify(text));
  let bytes = 2;
  for (let at = 0; at < text.length && bytes <= bytesMax; ) {
    const end = endOfPiece(text, at);
    bytes += Buffer.byteLength(JSON.stringify(text.slice(at, end))) - 2;
    at = end;
  }
  return bytes;
}

/** Half a surrogate pair would be escaped, so a piece does not end within a pair. */
function endOfPiece(text: string, at: number): number {
  const end = at + PIECE_CHARS;
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end + 1 : end;
}

const PIECE_CHARS = 64 * 1024;

/** A lower bound for the size of the value as JSON: every character takes at least one byte. */
export function jsonBytesAtLeast(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 2;
  if (Array.isArray(value)) for (const part of value) bytes += jsonBytesAtLeast(part);
  else {
    for (const [key, part] of Object.entries(value)) {
      if (part !== undefined) bytes += key.length + 3 + jsonBytesAtLeast(part);
    }
  }
  return bytes;
}
