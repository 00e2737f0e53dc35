/**
 * At least as many bytes as the value takes as JSON, by a look at its lengths alone. Nearly everything is far below every
 * limit, and to know that it need not be written. The value must not be nested too deep to be written either.
 */
export function jsonBytesAtMost(value: unknown): number {
  // The worst is a control character or half a pair, as `\u0001`.
  if (typeof value === 'string') return 6 * value.length + 2;
  // The longest number is -1.2345678901234567e-300.
  if (typeof value !== 'object' || value === null) return 24;
  let bytes = 2;
  for (const [key, part] of Object.entries(value)) bytes += 6 * key.length + 4 + jsonBytesAtMost(part);
  return bytes;
}

/**
 * How many bytes the value takes as JSON if they are more than allowed, or at least as many; undefined if they are not. A value
 * far below or far above the limit is not written to find out.
 */
export function findExcessBytes(value: unknown, bytesMax: number): number | undefined {
  if (jsonBytesAtMost(value) <= bytesMax) return undefined;
  const atLeast = jsonBytesAtLeast(value);
  if (atLeast > bytesMax) return atLeast;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > bytesMax ? bytes : undefined;
}

/** Every character takes a byte or more. */
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
