/** The trace id of a session: the same in every export and browser. */
export function traceIdOf(sessionId: string): string {
  return hash(`fleetloom trace ${sessionId}`) + hash(`${sessionId} fleetloom trace`);
}

/** The id of a span, from a text that is unique in its session. */
export function spanIdOf(text: string): string {
  return hash(text);
}

/** FNV-1a, 64 bits, hexadecimal: ids must differ but protect nothing, and `crypto.subtle` needs https. */
function hash(text: string): string {
  let value = OFFSET;
  for (const byte of new TextEncoder().encode(text)) value = ((value ^ BigInt(byte)) * PRIME) & MASK;
  return value.toString(16).padStart(16, '0');
}

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;
