/** What the first bytes of a client are. `other`: not TLS, or not as TLS has it. */
export type FirstBytes =
  | { readonly type: 'other' }
  /** `missing`: how many bytes have to follow at least. */
  | { readonly type: 'incomplete'; readonly missing: number }
  | {
      readonly type: 'hello';
      /** The name that the client asks for; undefined if it names none. */
      readonly serverName: string | undefined;
      /** Whether it has another, encrypted name, which the server may go by instead. */
      readonly hasEncryptedHello: boolean;
    };

/** Reads the ClientHello that a TLS connection begins with, which may come in several records (RFC 8446, 4.1.2 and 5.1). */
export function readClientHello(bytes: Buffer): FirstBytes {
  const handshake = joinRecords(bytes);
  if (handshake === undefined) return { type: 'other' };
  if (handshake.length < HANDSHAKE_HEADER) {
    return { type: 'incomplete', missing: HANDSHAKE_HEADER - handshake.length };
  }
  const length = handshake.readUIntBE(1, 3);
  if (handshake[0] !== CLIENT_HELLO || length > HELLO_BYTES_MAX) return { type: 'other' };
  const missing = HANDSHAKE_HEADER + length - handshake.length;
  if (missing > 0) return { type: 'incomplete', missing };
  try {
    return readExtensions(new Fields(handshake.subarray(HANDSHAKE_HEADER, HANDSHAKE_HEADER + length)));
  } catch (error) {
    if (error instanceof RangeError) return { type: 'other' };
    throw error;
  }
}

/** The largest ClientHello that is read. Usual ones have some 500 bytes, with post-quantum keys some 2,000. */
export const HELLO_BYTES_MAX = 16_384;
const HANDSHAKE_RECORD = 22;
const RECORD_HEADER = 5;
const HANDSHAKE_HEADER = 4;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const ENCRYPTED_CLIENT_HELLO = 0xfe0d;
const HOST_NAME = 0;

/** The handshake as far as it has arrived; undefined if the bytes are not records of a handshake. */
function joinRecords(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const isRecord = bytes[at] === HANDSHAKE_RECORD && (bytes[at + 1] ?? 3) === 3;
    if (!isRecord) return parts.length === 0 ? undefined : Buffer.concat(parts);
    if (bytes.length < at + RECORD_HEADER) break;
    const length = bytes.readUInt16BE(at + 3);
    // RFC 8446, 5.1 forbids it. Without this check thousands of them would be read again for each few bytes that arrive.
    if (length === 0) return undefined;
    parts.push(bytes.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length));
    at += RECORD_HEADER + length;
  }
  return Buffer.concat(parts);
}

function readExtensions(hello: Fields): FirstBytes {
  hello.skip(2 + 32);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  const names: Buffer[] = [];
  let hasEncryptedHello = false;
  const extensions = new Fields(hello.isAtEnd ? Buffer.alloc(0) : hello.vector(2));
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type === SERVER_NAME) names.push(...readNames(new Fields(content)));
    if (type === ENCRYPTED_CLIENT_HELLO) hasEncryptedHello = true;
  }
  // A server might go by another one of them than we do.
  if (names.length > 1) return { type: 'other' };
  return { type: 'hello', serverName: names[0]?.toString('latin1'), hasEncryptedHello };
}

function readNames(extension: Fields): Buffer[] {
  const list = new Fields(extension.vector(2));
  const names: Buffer[] = [];
  while (!list.isAtEnd) {
    if (list.number(1) !== HOST_NAME) throw new RangeError('a name of an unknown kind');
    names.push(list.vector(2));
  }
  return names;
}

/** Reads fields one after another. Throws a RangeError beyond the end. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new RangeError('the message ends too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  number(bytes: number): number {
    return this.skip(bytes).readUIntBE(0, bytes);
  }

  /** A field that begins with its length, which has so many bytes. */
  vector(lengthBytes: number): Buffer {
    return this.skip(this.number(lengthBytes));
  }
}
