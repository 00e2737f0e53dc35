import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { FleetloomError } from '../base/errors.ts';
import { requestError } from '../base/request-error.ts';

/** Encrypts small secrets of users, such as tokens, before they are stored. */
export interface Sealer {
  /** The id of the master key that seals; undefined if there is none. */
  readonly keyId: string | undefined;
  /** The ids of all master keys that open. */
  readonly keyIds: readonly string[];
  /** `names` say whose secret it is, such as the session and the resource. It opens only with the same names. Throws without a master key. */
  seal(text: string, names: readonly string[]): string;
  /** Throws if the text was not sealed with a known key for these names. */
  open(sealed: string, names: readonly string[]): string;
  /** Encrypts the secret with the present master key; undefined if it is already. Only the data key is encrypted again. */
  rewrap(sealed: string, names: readonly string[]): string | undefined;
}

/**
 * Seals with a master key of 32 bytes; older keys only open. Each secret is encrypted with a data key of its own (AES-256-GCM), and
 * the data key with the master key, so that a change of the master key only has to wrap the data keys again.
 */
export function createSealer(masterKey: Uint8Array | undefined, olderKeys: readonly Uint8Array[] = []): Sealer {
  const keys = new Map(
    [...olderKeys, ...(masterKey === undefined ? [] : [masterKey])].map((key) => [toKeyId(key), key]),
  );
  const keyId = masterKey === undefined ? undefined : toKeyId(masterKey);
  const current = (): Uint8Array => {
    if (masterKey !== undefined) return masterKey;
    throw requestError('invalid_request', 'no master key is configured', { advice: NO_KEY_ADVICE });
  };
  return {
    keyId,
    keyIds: [...keys.keys()],
    seal: (text, names) => {
      const aad = toAdditionalData(names);
      const dataKey = randomBytes(KEY_BYTES);
      const wrapped = encrypt(current(), dataKey, aad);
      return [VERSION, keyId, wrapped, encrypt(dataKey, Buffer.from(text), aad)].join('.');
    },
    open: (sealed, names) => {
      const { id, content } = split(sealed);
      return explain(id, () => decrypt(unwrap(sealed, names), content, toAdditionalData(names)).toString());
    },
    rewrap: (sealed, names) => {
      const { id, content } = split(sealed);
      if (id === keyId) return undefined;
      const dataKey = explain(id, () => unwrap(sealed, names));
      return [VERSION, keyId, encrypt(current(), dataKey, toAdditionalData(names)), content].join('.');
    },
  };

  function unwrap(sealed: string, names: readonly string[]): Buffer {
    const { version, id, wrapped } = split(sealed);
    if (version !== VERSION) throw new TypeError('sealed in another form');
    const key = keys.get(id);
    if (key === undefined) throw new TypeError('sealed with another master key');
    return decrypt(key, wrapped, toAdditionalData(names));
  }

  function explain<Result>(id: string, open: () => Result): Result {
    try {
      return open();
    } catch (cause) {
      throw new FleetloomError({
        code: 'secret_not_opened',
        kind: 'terminal',
        problem: keys.has(id)
          ? 'a stored secret cannot be opened: it was changed in the database, or belongs to another record'
          : `a stored secret cannot be opened: it was sealed with the master key ${id}, and this server has ${[...keys.keys()].join(', ') || 'none'}`,
        advice: keys.has(id)
          ? 'store the secret again, and find out who can write to the database'
          : 'start the server with the master key that the secret was stored with; FLEETLOOM_MASTER_KEY_OLD takes older keys',
        cause,
      });
    }
  }
}

/** The id of the master key that a secret was sealed with. */
export function keyIdOf(sealed: string): string {
  return split(sealed).id;
}

/** The id of a master key, which says nothing about the key. */
export function toKeyId(masterKey: Uint8Array): string {
  return createHash('sha256').update('fleetloom-kek').update(masterKey).digest('hex').slice(0, KEY_ID_CHARS);
}

const VERSION = '1';
const KEY_ID_CHARS = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NO_KEY_ADVICE =
  'ask the operator to set FLEETLOOM_MASTER_KEY on every node to what `openssl rand -base64 32` prints once';

function split(sealed: string): { version: string; id: string; wrapped: string; content: string } {
  const [version = '', id = '', wrapped = '', content = ''] = sealed.split('.');
  // Text that is not sealed may be a secret, so no part of it may be in a message.
  return { version, id: /^[0-9a-f]{16}$/.test(id) ? id : 'unknown', wrapped, content };
}

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
