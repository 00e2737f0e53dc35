import { randomBytes } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { FleetloomError } from '../base/errors.ts';
import type { Store } from '../store/store.ts';
import { openSealedSecret } from './sealed-secret.ts';
import { createSealer, type Sealer } from './sealer.ts';
import { KEY_BYTES } from './signing-key.ts';
import { writePrivateFile } from './write-private-file.ts';

/** The master keys that the operator has given: 32 bytes in base64 each. */
export interface MasterKeyChoice {
  readonly masterKey?: string | undefined;
  /** A file that holds the key, if `masterKey` is not given. */
  readonly masterKeyFile?: string | undefined;
  /** Keys that only open, separated by commas. */
  readonly olderMasterKeys?: string | undefined;
}

/**
 * The default beside the operator's choice: a private file created on first use, or a key that an older version stored in
 * the database, sealed with the secret of the nodes. That key only opens.
 */
export type MasterKeyLocation =
  | { readonly file: string }
  | { readonly store: Pick<Store, 'documents'>; readonly secret: string };

/** The master keys of a server. */
export interface MasterKeys {
  /** Opens and seals. Makes the key where it is kept in a file and there is none. */
  openSealer(): Promise<Sealer>;
  /** A sealer with the existing keys: no key is created. */
  peek(): Sealer;
}

/** Reads the keys, and makes none. Throws for a key that is not one. */
export async function openMasterKeys(choice: MasterKeyChoice, location: MasterKeyLocation): Promise<MasterKeys> {
  const own = 'file' in location ? location.file : undefined;
  const older = [...toOlder(choice.olderMasterKeys), ...('store' in location ? await readFromDatabase(location) : [])];
  const given = await readGiven(choice);
  const kept = given ?? (own === undefined ? undefined : await readOwn(own));
  let sealer = createSealer(kept, older);
  let making: Promise<Sealer> | undefined;
  return {
    peek: () => sealer,
    openSealer: async () => {
      if (sealer.keyId !== undefined || own === undefined) return sealer;
      making ??= make(own).then((key) => createSealer(key, older));
      try {
        sealer = await making;
        return sealer;
      } finally {
        making = undefined;
      }
    },
  };
}

/** Parses a key that an operator gave. */
export function toMasterKey(text: string, source: string): Uint8Array {
  const key = parse(text);
  if (key !== undefined) return key;
  throw new FleetloomError({
    code: 'master_key_invalid',
    kind: 'caller',
    problem: `${source} is not 32 bytes in base64`,
    advice: 'set it to what `openssl rand -base64 32` prints',
  });
}

function toOlder(keys: string | undefined): Uint8Array[] {
  const parts = (keys ?? '').split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => toMasterKey(part, 'a key of FLEETLOOM_MASTER_KEY_OLD'));
}

async function readGiven({ masterKey, masterKeyFile }: MasterKeyChoice): Promise<Uint8Array | undefined> {
  if (masterKey !== undefined && masterKey !== '') return toMasterKey(masterKey, 'FLEETLOOM_MASTER_KEY');
  if (masterKeyFile === undefined) return undefined;
  const text = await readFile(masterKeyFile, 'utf8').catch((cause: unknown) => {
    throw new FleetloomError({
      code: 'master_key_invalid',
      kind: 'caller',
      problem: `the master key file ${masterKeyFile} cannot be read`,
      advice: 'pass --master-key-file a file that this user may read',
      cause,
    });
  });
  return toMasterKey(text, masterKeyFile);
}

/** Another one cannot be made: what it has sealed would be lost. */
async function readOwn(file: string): Promise<Uint8Array | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = parse(text);
  if (key !== undefined) return key;
  throw new FleetloomError({
    code: 'master_key_broken',
    kind: 'terminal',
    problem: `${file} is not a master key, so stored secrets cannot be opened`,
    advice: 'restore it from a backup; or remove it, and store the secrets again',
  });
}

async function make(file: string): Promise<Uint8Array> {
  // A link appears with its whole content and replaces nothing: of two that start at once one wins.
  const draft = `${file}.${process.pid}.${randomBytes(8).toString('hex')}.draft`;
  await writePrivateFile(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  return (await readOwn(file))!;
}

async function readFromDatabase({ store, secret }: { store: Pick<Store, 'documents'>; secret: string }) {
  if ((await store.documents.get('secret', LEGACY_ID)) === undefined) return [];
  const make = () => randomBytes(KEY_BYTES).toString('hex');
  const { text } = await openSealedSecret(store, { id: LEGACY_ID, secret, make, ifInClear: 'sealed' });
  const key = parse(text);
  return key === undefined ? [] : [key];
}

/** Base64, or the hex digits that earlier versions have written. */
function parse(text: string): Uint8Array | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined;
  const key = Buffer.from(trimmed, 'base64');
  return key.length === KEY_BYTES ? key : undefined;
}

const LEGACY_ID = 'master_key';
