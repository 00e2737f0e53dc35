/** The trace of a session: the same in every export and in every browser. */
export function traceIdOf(sessionId: string): string {
  return hash(`fleetloom trace ${sessionId}`) + hash(`${sessionId} fleetloom trace`);
}

export function spanIdOf(what: string): string {
  return hash(what);
}

/** FNV-1a with 64 bits, in hexadecimal: it tells apart and protects nothing, and needs no page with https. */
function hash(what: string): string {
  let value = OFFSET;
  for (const byte of new TextEncoder().encode(what)) value = ((value ^ BigInt(byte)) * PRIME) & MASK;
  return value.toString(16).padStart(16, '0');
}

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;
