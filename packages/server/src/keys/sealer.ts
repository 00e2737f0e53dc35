import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';

/** Encrypts small secrets of users, such as tokens, before they are stored. */
export interface Sealer {
  /** `names` say whose secret it is, such as the session and the resource. It opens only with the same names. */
  seal(text: string, names: readonly string[]): string;
  /** Throws if the text was not sealed with this key for these names. */
  open(sealed: string, names: readonly string[]): string;
}

/**
 * Seals with a master key of 32 bytes. Each secret is encrypted with a data key of its own (AES-256-GCM), and the data key with
 * the master key, so that a change of the master key only has to wrap the data keys again.
 */
export function createSealer(masterKey: Uint8Array): Sealer {
  const keyId = createHash('sha256').update('fleetloom-kek').update(masterKey).digest('hex').slice(0, KEY_ID_CHARS);
  return {
    seal: (text, names) => {
      const aad = toAdditionalData(names);
      const dataKey = randomBytes(KEY_BYTES);
      const wrapped = encrypt(masterKey, dataKey, aad);
      return [VERSION, keyId, wrapped, encrypt(dataKey, Buffer.from(text), aad)].join('.');
    },
    open: (sealed, names) => {
      const [version, id, wrapped = '', content = ''] = sealed.split('.');
      const aad = toAdditionalData(names);
      try {
        if (version !== VERSION) throw new TypeError(`sealed in the form ${version}`);
        return decrypt(decrypt(masterKey, wrapped, aad), content, aad).toString();
      } catch (cause) {
        throw new FleetloomError({
          code: 'secret_not_opened',
          kind: 'terminal',
          problem: `a stored secret cannot be opened: it was sealed with the master key ${id}, and this server has ${keyId}`,
          advice: 'start the server with the data directory or the FLEETLOOM_SECRET that the secret was stored with',
          cause,
        });
      }
    },
  };
}

const VERSION = '1';
const KEY_ID_CHARS = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Length-prefixed, so that no two lists of names are the same bytes. */
function toAdditionalData(names: readonly string[]): Buffer {
  const parts = ['fleetloom-secret-1', ...names].map((name) => Buffer.from(name));
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}

function encrypt(key: Uint8Array, text: Uint8Array, aad: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

function decrypt(key: Uint8Array, sealed: string, aad: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES)).setAAD(aad);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}
