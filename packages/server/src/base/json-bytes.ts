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
