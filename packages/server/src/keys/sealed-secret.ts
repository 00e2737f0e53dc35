import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { FleetloomError } from '../base/errors.ts';
import { keyLimits } from './limits.ts';
import type { DocumentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** A secret that all nodes of a database share: kept in the database, sealed with one that the database does not have. */
export interface SealedSecret {
  /** `signing_key`: its name in the database, and in messages. */
  readonly id: string;
  /** The secret with which nodes encrypt: `FLEETLOOM_SECRET`. */
  readonly secret: string;
  readonly make: () => string;
  /**
   * What an older version has kept in the clear is in dumps of the database: `replaced` makes a new one, `sealed` keeps it,
   * where others rely on it.
   */
  readonly ifInClear: 'replaced' | 'sealed';
}

/** A secret that all nodes share. */
export interface OpenedSecret {
  readonly text: string;
  /** The secret was created now, by this node. */
  readonly isNew: boolean;
}

/** Opens it, or makes it if there is none. Of several nodes that start at once all get the same. */
export async function openSealedSecret(
  { documents }: Pick<Store, 'documents'>,
  sealed: SealedSecret,
): Promise<OpenedSecret> {
  const known = await documents.get(KIND, sealed.id);
  if (known?.data['sealed'] !== undefined) return { text: await unseal(sealed, known), isNew: false };
  const before = known?.data['key'];
  const isNew = typeof before !== 'string' || sealed.ifInClear === 'replaced';
  const text = isNew ? sealed.make() : before;
  const data = { sealed: await seal(sealed, text) };
  try {
    await documents.put({ kind: KIND, id: sealed.id, data, ifRevision: known?.revision ?? 0 });
    return { text, isNew };
  } catch (error) {
    if (!isStoreError(error, 'version_conflict')) throw error;
    // Another node came first.
    return await openSealedSecret({ documents }, sealed);
  }
}

/** Throws where there is none, or one that could be guessed. */
export function checkSecret(secret: string | undefined): string {
  const isGiven = secret !== undefined && secret !== '';
  if (isGiven && secret.length >= keyLimits.nodeSecretCharsMin) return secret;
  throw new FleetloomError({
    code: 'node_secret_missing',
    kind: 'caller',
    problem: isGiven
      ? `FLEETLOOM_SECRET has ${secret.length} characters, and needs at least ${keyLimits.nodeSecretCharsMin}`
      : 'with a database, FLEETLOOM_SECRET has to be set: it seals the signing key, so that the database alone is not enough to forge logins',
    advice: 'run `openssl rand -base64 32` once, and set FLEETLOOM_SECRET to what it prints on every node',
  });
}

async function seal({ id, secret }: SealedSecret, text: string): Promise<string> {
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(IV_BYTES)];
  const cipher = createCipheriv('aes-256-gcm', await toKey(secret, salt), iv).setAAD(Buffer.from(id));
  return Buffer.concat([salt, iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

async function unseal({ id, secret }: SealedSecret, { data }: DocumentRecord): Promise<string> {
  // Only `seal` writes it.
  const bytes = Buffer.from(data['sealed'] as string, 'base64');
  const salt = bytes.subarray(0, SALT_BYTES);
  const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', await toKey(secret, salt), iv).setAAD(Buffer.from(id));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return decipher.update(bytes.subarray(SALT_BYTES + IV_BYTES, -TAG_BYTES)).toString() + decipher.final().toString();
  } catch (cause) {
    throw new FleetloomError({
      code: 'node_secret_wrong',
      kind: 'caller',
      problem: `FLEETLOOM_SECRET is not the one that ${id} in the database was sealed with`,
      advice:
        'set the value that the other nodes have; if it is lost, see "The secret of the nodes" in docs/scaling.md',
      cause,
    });
  }
}

/** Slow on purpose: people choose secrets that can be guessed. */
async function toKey(secret: string, salt: Uint8Array): Promise<Buffer> {
  return (await promisify(scrypt)(secret, salt, KEY_BYTES)) as Buffer;
}

const KIND = 'secret';
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
