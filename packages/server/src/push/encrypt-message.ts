import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

/** The keys that a browser has created for its subscription. */
export interface SubscriptionKeys {
  /** The public key, a point of 65 bytes on the curve P-256. */
  readonly p256dh: Uint8Array;
  /** A secret of 16 bytes. */
  readonly auth: Uint8Array;
}

/** The random parts of an encrypted message. Tests set them, to compare with RFC 8291. */
export interface MessageRandom {
  readonly sender: ECDH;
  readonly salt: Uint8Array;
}

/**
 * Encrypts a message so that only the browser with these keys can read it: RFC 8291, with the content encoding `aes128gcm` of RFC
 * 8188. The text is padded to a multiple of `padTo` bytes, so that its length says little about it.
 */
export function encryptMessage(
  text: string,
  { p256dh, auth }: SubscriptionKeys,
  padTo = PAD_BYTES,
  { sender, salt } = makeRandom(),
): Buffer {
  const own = sender.getPublicKey();
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, own]);
  const secret = Buffer.from(hkdfSync('sha256', sender.computeSecret(p256dh), auth, keyInfo, 32));
  const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
  const plain = pad(Buffer.from(text), padTo);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(RECORD_BYTES);
  header.writeUInt8(own.length, 4);
  return Buffer.concat([salt, header, own, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Whether the bytes are a public key that a message can be encrypted for. */
export function isPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length !== POINT_BYTES || bytes[0] !== UNCOMPRESSED) return false;
  try {
    makeRandom().sender.computeSecret(bytes);
    return true;
  } catch {
    // The point is not on the curve.
    return false;
  }
}

/** The longest text, in bytes: push services accept bodies of 4,096 bytes. */
export const MESSAGE_BYTES_MAX = 3_993;
const RECORD_BYTES = 4_096;
const PAD_BYTES = 1_024;
const POINT_BYTES = 65;
const UNCOMPRESSED = 4;
/** Ends the text of the last record (RFC 8188); zeros follow. */
const DELIMITER = Buffer.from([2]);

function makeRandom(): MessageRandom {
  const sender = createECDH('prime256v1');
  sender.generateKeys();
  return { sender, salt: randomBytes(16) };
}

function pad(text: Buffer, padTo: number): Buffer {
  if (text.length > MESSAGE_BYTES_MAX) throw new RangeError(`a push message of ${text.length} bytes is too long`);
  const bytes = Math.min(Math.ceil((text.length + 1) / padTo) * padTo, MESSAGE_BYTES_MAX + 1);
  return Buffer.concat([text, DELIMITER, Buffer.alloc(bytes - text.length - 1)]);
}
