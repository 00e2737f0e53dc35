/** The kind of the first bytes of a client. `other`: not TLS, or not valid TLS. */
export type FirstBytes =
  | { readonly type: 'other' }
  /** `missing`: the least number of bytes that have to follow. */
  | { readonly type: 'incomplete'; readonly missing: number }
  | {
      readonly type: 'hello';
      /** The server name that the client requests; undefined if it names none. */
      readonly serverName: string | undefined;
      /** Whether the ClientHello has a second, encrypted server name, which the server may use instead. */
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

/** Bytes of the largest ClientHello that is read. Most have about 500 bytes, or 2,000 with post-quantum keys. */
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
    // RFC 8446, 5.1 forbids empty records. Without this check thousands of them would be parsed again whenever a few bytes arrive.
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
  // The server might use another one of the names than this check.
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

  /** A field with a length prefix of `lengthBytes` bytes. */
  vector(lengthBytes: number): Buffer {
    return this.skip(this.number(lengthBytes));
  }
}
