import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.ts';
import { FleetloomError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { mapAtOnce } from '../../base/map-at-once.ts';
import { isOutOfResources } from '../resource-error.ts';
import { type Credential, type Credentials, DEFAULT_WORKSPACE } from './credential.ts';
import { parseKeyFile, type StoredKey, toKeyFile } from './key-file.ts';
import { type KeyShelf, openKeyDirectory } from './key-shelf.ts';
import { digestOf, isSameDigest, makeSecret, type RandomBytes } from './secret.ts';

export interface KeyStore extends Credentials {
  /** The secret is told this once: only its digest is kept. */
  create(key: NewApiKey): Promise<{ readonly secret: string; readonly key: StoredKey }>;
  list(): Promise<readonly StoredKey[]>;
  /** What a key may do by its public id, unless it was revoked. Others learn of that with the same delay as with `find`. */
  findById(id: string): Promise<Credential | undefined>;
  /** Whether there was such a key. It is worth nothing afterwards. */
  revoke(id: string): Promise<boolean>;
}

export type NewApiKey =
  | { readonly kind: 'api'; readonly name: string; readonly workspaceId?: string }
  | {
      readonly kind: 'environment';
      readonly name: string;
      readonly workspaceId?: string;
      readonly environmentId: string;
    };

export type KeyStoreOptions = KeyStorePlace & KeyStoreSources;

export type KeyStorePlace =
  /** Made if it is not there. Nobody else should be able to read it. */
  | { readonly directory: string }
  /** Where all nodes of a server have them. */
  | { readonly shelf: KeyShelf };

export interface KeyStoreSources {
  readonly clock?: Clock | undefined;
  readonly random?: RandomBytes | undefined;
  /** Hears of files that are no keys; they are passed over. By default a warning of the process. */
  readonly onMishap?: ((error: Error) => void) | undefined;
}

/**
 * Keys in a directory or in the store, each by itself: adding and revoking is making and removing one, so several
 * processes can do it at once. If there is none, a first one is made and told, by one of those that start at once.
 *
 * @example
 * const { keys, firstSecret } = await openKeyStore({ directory: join(dataDirectory, 'keys') });
 * if (firstSecret !== undefined) console.log(`Your key, shown only now: ${firstSecret}`);
 */
export async function openKeyStore(
  options: KeyStoreOptions,
): Promise<{ readonly keys: KeyStore; readonly firstSecret: string | undefined }> {
  const { clock = systemClock, random = randomBytes } = options;
  const { onMishap = (error) => process.emitWarning(error) } = options;
  const shelf = 'shelf' in options ? options.shelf : await openKeyDirectory(options.directory);
  let known: readonly KeyWithDigest[] = [];
  /** What was read. A key never changes under its name, so their names say everything. */
  let loadedNames = '';
  let checkedAt = Number.NEGATIVE_INFINITY;
  /** A look that is under way. */
  let looking: Promise<void> | undefined;
  /** Since when it is not possible to look, and why. */
  let failing: { readonly since: number; readonly error: unknown } | undefined;
  await load();
  const first = known.length === 0 ? await make({ kind: 'api', name: 'first key' }, shelf.firstName) : undefined;
  return { keys: { find, create, list, findById, revoke }, firstSecret: first?.secret };

  async function find(secret: string): Promise<Credential | undefined> {
    await refresh();
    const digest = digestOf(secret);
    let match: StoredKey | undefined;
    // All of them, always: how long it takes says nothing about which one was nearly right.
    for (const key of known) if (isSameDigest(key.digest, digest)) match = key.key;
    return match === undefined ? undefined : toCredential(match);
  }

  async function create(given: NewApiKey): Promise<{ secret: string; key: StoredKey }> {
    await load();
    if (known.length >= limits.apiKeysMax) throw tooManyKeys(shelf.label);
    // Only the name of the first one can be taken.
    return (await make(given))!;
  }

  /** Undefined if the name is taken: another process has made the first key. */
  async function make(given: NewApiKey, name?: string): Promise<{ secret: string; key: StoredKey } | undefined> {
    const secret = makeSecret(`fleetloom_${given.kind}_`, random);
    const sha256 = digestOf(secret).toString('hex');
    // A digest cannot be turned back, so a part of it is a good public name.
    const id = `key_${sha256.slice(0, 16)}`;
    const key: StoredKey = { workspaceId: DEFAULT_WORKSPACE, ...given, id, sha256, createdAt: clock.now() };
    const isNew = await shelf.add(name ?? id, toKeyFile(key));
    await load();
    return isNew ? { secret, key } : undefined;
  }

  async function list(): Promise<readonly StoredKey[]> {
    await load();
    return known.map(({ key }) => key).toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  async function findById(id: string): Promise<Credential | undefined> {
    await refresh();
    const found = known.find(({ key }) => key.id === id);
    return found === undefined ? undefined : toCredential(found.key);
  }

  async function revoke(id: string): Promise<boolean> {
    await load();
    const found = known.filter(({ key }) => key.id === id);
    for (const { name } of found) await shelf.remove(name);
    await load();
    return found.length > 0;
  }

  /** Looks whether another process has added or removed a key, but not at every request. */
  async function refresh(): Promise<void> {
    // Every request that arrives during the look waits for it: the keys known before may include a revoked one.
    if (clock.steady() - checkedAt >= limits.apiKeysCheckMs)
      await (looking ??= look().finally(() => (looking = undefined)));
    // A machine without free descriptors must not lock out every key holder, and a revoked key must not work for long.
    if (failing !== undefined && clock.steady() - failing.since >= limits.apiKeysStaleMs) throw failing.error;
  }

  async function look(): Promise<void> {
    const startedAt = clock.steady();
    try {
      if ((await shelf.names()).join() !== loadedNames) await load();
      failing = undefined;
    } catch (error) {
      if (!isOutOfResources(error)) throw error;
      failing ??= { since: startedAt, error };
    }
    checkedAt = startedAt;
  }

  async function load(): Promise<void> {
    const names = await shelf.names();
    const loaded = await mapAtOnce(names.slice(0, limits.apiKeysMax), limits.filesAtOnceMax, readKey);
    known = loaded.filter((key) => key !== undefined);
    loadedNames = names.join();
  }

  async function readKey(name: string): Promise<KeyWithDigest | undefined> {
    try {
      const key = parseKeyFile(await shelf.read(name));
      return { key, name, digest: Buffer.from(key.sha256, 'hex') };
    } catch (cause) {
      // It is a key that cannot be read at this moment: what is known stays as it is.
      if (isOutOfResources(cause)) throw cause;
      onMishap(
        new Error(`${shelf.placeOf(name)} is no key and is passed over: remove it, or make it readable`, { cause }),
      );
      return undefined;
    }
  }
}

interface KeyWithDigest {
  readonly key: StoredKey;
  readonly name: string;
  readonly digest: Uint8Array;
}

function toCredential(key: StoredKey): Credential {
  const { id, workspaceId } = key;
  return key.kind === 'environment'
    ? { kind: key.kind, id, workspaceId, environmentId: key.environmentId }
    : { kind: key.kind, id, workspaceId, name: key.name };
}

function tooManyKeys(label: string): FleetloomError {
  return new FleetloomError({
    code: 'too_many_keys',
    kind: 'caller',
    problem: `${label} has ${limits.apiKeysMax} keys, and more are not allowed`,
    advice: 'revoke keys that nobody uses',
  });
}
