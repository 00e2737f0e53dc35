import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock.ts';
import { FleetloomError } from '../base/errors.ts';
import { baseLimits } from '../base/limits.ts';
import { keyLimits } from './limits.ts';
import { mapAtOnce } from '../base/map-at-once.ts';
import { isOutOfResources } from '../base/resource-error.ts';
import type { Auditor } from '../store/audit.ts';
import { isStoreError } from '../store/store-errors.ts';
import { type Credential, type Credentials, DEFAULT_WORKSPACE } from './credential.ts';
import { parseKeyFile, type StoredApiKey, type StoredKey, toKeyFile } from './key-file.ts';
import { type KeyStorage, openKeyDirectory, type RecordAudit } from './key-storage.ts';
import { API_KEYS, KnownKeys, limitScopeOf } from './known-keys.ts';
import { KeyUses } from './key-uses.ts';
import { digestOf, makeSecret, type RandomBytes } from './secret.ts';

/** Creates, lists, finds and revokes keys. */
export interface KeyStore extends Credentials {
  /** Returns the secret, which is not stored: only its digest is. */
  create(key: NewApiKey, audit?: Auditor): Promise<CreatedKey>;
  list(): Promise<readonly StoredKey[]>;
  /** What a key may do by its public id, unless it was revoked. Others learn of that with the same delay as with `find`. */
  findById(id: string): Promise<Credential | undefined>;
  /** Whether there was such a key. It is worth nothing afterwards. */
  revoke(id: string, audit?: Auditor): Promise<boolean>;
  /**
   * Gives an API key another secret. The old one is accepted for as long as `overlapMs` says, 0: not any more. Everything that goes by
   * the id of the key stays: logins, devices, limits. Undefined if there is no such API key.
   */
  rotate(id: string, options?: { readonly overlapMs?: number }, audit?: Auditor): Promise<CreatedKey | undefined>;
  /** When each key was last used, by its id. */
  lastUses(): Promise<ReadonlyMap<string, number>>;
  /** Notes that a key is used now, also by a browser that was signed in with it. */
  noteUse(id: string): void;
  /** Stores the uses since the last call. */
  saveUses(): Promise<void>;
}

/** A key with its secret, which cannot be read again. */
export interface CreatedKey {
  readonly secret: string;
  readonly key: StoredKey;
}

/** The key to create; an environment key is for workers. */
export type NewApiKey =
  | (Pick<StoredApiKey, 'kind' | 'name' | 'scopes' | 'directories' | 'engines' | 'expiresAt'> & {
      readonly workspaceId?: string;
    })
  | {
      readonly kind: 'environment';
      readonly name: string;
      readonly workspaceId?: string;
      readonly environmentId: string;
    };

export type KeyStoreOptions = KeyLocation & KeyStoreSources;

/** Where keys are stored. */
export type KeyLocation =
  /** Created if it does not exist, readable by its owner only. */
  | { readonly directory: string; readonly record?: RecordAudit | undefined }
  /** Where all nodes of a server have them. */
  | { readonly storage: KeyStorage };

export interface KeyStoreSources {
  readonly clock?: Clock | undefined;
  readonly random?: RandomBytes | undefined;
  /** Makes the entries of the audit log about changes that no request makes. Default: the server itself. */
  readonly auditorOf?: ((workspaceId: string) => Auditor) | undefined;
  /** Receives an error for each file that is not a key, which is ignored. Default: a process warning. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Keys in a directory or in the store, one file or document each: adding and revoking is creating and removing one, so several
 * processes can do it at once. Without any key a first one is created, by one of the processes that start at once.
 *
 * @example
 * const { keys, firstSecret } = await openKeyStore({ directory: join(dataDirectory, 'keys') });
 * if (firstSecret !== undefined) console.log(`Your key, shown only now: ${firstSecret}`);
 */
export async function openKeyStore(
  options: KeyStoreOptions,
): Promise<{ readonly keys: KeyStore; readonly firstSecret: string | undefined }> {
  const { clock = systemClock, random = randomBytes, auditorOf = systemAuditor } = options;
  const { onError = (error) => process.emitWarning(error) } = options;
  const storage = 'storage' in options ? options.storage : await openKeyDirectory(options.directory, options.record);
  let known = new KnownKeys();
  /** The names that `known` was read from, unless it was changed here since. A key never changes under its name. */
  let loadedNames: string | undefined;
  /** Loads that are under way, each with the changes made here since it began. */
  const loads = new Set<KeyChange[]>();
  /** Loads are numbered: an earlier one that ends later is outdated. */
  let [loadsBegun, loadApplied] = [0, 0];
  /** Stored names that are not keys, and were reported. */
  const reported = new Set<string>();
  let checkedAt = Number.NEGATIVE_INFINITY;
  /** A look that is under way. */
  let looking: Promise<void> | undefined;
  /** Since when it is not possible to look, and why. */
  let failing: { readonly since: number; readonly error: unknown } | undefined;
  const uses = new KeyUses(storage, clock);
  /** The end of the last create: the next one counts its key. */
  let creating: Promise<unknown> = Promise.resolve();
  await load();
  reportSurplus();
  const isFirst = known.byName.size === 0;
  const first = isFirst ? await make({ kind: 'api', name: 'first key' }, storage.firstName) : undefined;
  // Another process made it.
  if (isFirst && first === undefined) await load();
  const findKnown = (secret: string) => toCredential(known.findBySecret(secret, clock.now()));
  const keys = {
    find,
    findKnown,
    create,
    list,
    findById,
    revoke,
    rotate,
    lastUses: () => uses.all(),
    noteUse,
    saveUses,
  };
  return { keys, firstSecret: first?.secret };

  async function find(secret: string): Promise<Credential | undefined> {
    await refresh();
    const key = known.findBySecret(secret, clock.now());
    if (key !== undefined) uses.note(key.id);
    return toCredential(key);
  }

  function create(given: NewApiKey, audit?: Auditor): Promise<CreatedKey> {
    const created = creating.then(() => createNext(given, audit));
    creating = created.catch(() => {});
    return created;
  }

  async function createNext(given: NewApiKey, audit: Auditor | undefined): Promise<CreatedKey> {
    const scope = limitScopeOf({ workspaceId: DEFAULT_WORKSPACE, ...given });
    const reservation = await storage.reserve(scope, async (reserved) => {
      await load();
      return (known.countByScope().get(scope) ?? 0) + reserved < maxOf(scope);
    });
    if (reservation === undefined) throw tooManyKeys(scope);
    try {
      // Only the name of the first one can be taken.
      return (await make(given, undefined, audit))!;
    } finally {
      await reservation.release();
    }
  }

  /** Undefined if the name is taken: another process has made the first key. */
  async function make(given: NewApiKey, firstName?: string, audit?: Auditor): Promise<CreatedKey | undefined> {
    const secret = makeSecret(`fleetloom_${given.kind}_`, random);
    const sha256 = digestOf(secret).toString('hex');
    // A digest cannot be turned back, so a part of it is a good public name.
    const id = `key_${sha256.slice(0, 16)}`;
    const fields = { workspaceId: DEFAULT_WORKSPACE, ...given, id, sha256, createdAt: clock.now() };
    // Fields that limit nothing are left out, so that older servers read the key.
    const key = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields;
    const name = firstName ?? id;
    const entry = (audit ?? auditorOf(key.workspaceId))('key.created', id, toDetails(key));
    if (!(await storage.add(name, toKeyFile(key), entry))) return undefined;
    change((keys) => keys.set(name, key));
    return { secret, key };
  }

  async function list(): Promise<readonly StoredKey[]> {
    await load();
    return [...known.all].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  async function findById(id: string): Promise<Credential | undefined> {
    await refresh();
    return toCredential(known.findById(id, clock.now()));
  }

  async function revoke(id: string, audit?: Auditor): Promise<boolean> {
    let isFound = false;
    for (;;) {
      await load();
      const found = [...known.byName].filter(([, key]) => key.id === id);
      // Another process may have rotated it, which adds it under another name.
      if (found.length === 0) return isFound;
      for (const [name, key] of found) {
        const entry = (audit ?? auditorOf(key.workspaceId))('key.revoked', id, toDetails(key));
        await storage.remove(name, isFound ? undefined : entry);
        change((keys) => keys.delete(name));
        isFound = true;
      }
    }
  }

  async function rotate(
    id: string,
    { overlapMs = keyLimits.keyOverlapMs }: { readonly overlapMs?: number } = {},
    audit?: Auditor,
  ): Promise<CreatedKey | undefined> {
    await load();
    const before = known.findById(id, clock.now());
    if (before?.kind !== 'api') return undefined;
    const names = [...known.byName].filter(([, key]) => key.id === id).map(([name]) => name);
    const secret = makeSecret('fleetloom_api_', random);
    const sha256 = digestOf(secret).toString('hex');
    const now = clock.now();
    const replaced = overlapMs > 0 ? [{ sha256: before.sha256, until: now + overlapMs }] : [];
    const still = overlapMs > 0 ? (before.previous ?? []).filter(({ until }) => until > now) : [];
    const previous = [...replaced, ...still].slice(0, keyLimits.keyPreviousMax);
    const rotations = (before.rotations ?? 0) + 1;
    const key: StoredApiKey = { ...before, sha256, rotations, rotatedAt: now, previous };
    const name = `${id}-${rotations}`;
    const details = { ...toDetails(key), overlap_ms: overlapMs };
    const record = audit ?? auditorOf(key.workspaceId);
    if (!(await storage.add(name, toKeyFile(key), record('key.rotated', id, details)))) throw rotatedElsewhere(id);
    change((keys) => keys.set(name, key));
    const stored = await storage.names();
    if (!names.some((old) => stored.includes(old))) {
      // Another process has revoked it, or rotated it several times: this form must not bring it back.
      await storage.remove(name, record('key.revoked', id, toDetails(key)));
      change((keys) => keys.delete(name));
      throw rotatedElsewhere(id);
    }
    for (const old of names) {
      await storage.remove(old);
      change((keys) => keys.delete(old));
    }
    return { secret, key };
  }

  async function saveUses(): Promise<void> {
    await uses.save();
  }

  function noteUse(id: string): void {
    uses.note(id);
  }

  /** Looks whether another process has added or removed a key, but not at every request. */
  async function refresh(): Promise<void> {
    // Every request that arrives during the look waits for it: the keys known before may include a revoked one.
    if (clock.steady() - checkedAt >= keyLimits.apiKeysCheckMs)
      await (looking ??= look().finally(() => (looking = undefined)));
    // A machine without free descriptors must not lock out every key holder, and a revoked key must not work for long.
    if (failing !== undefined && clock.steady() - failing.since >= keyLimits.apiKeysStaleMs) throw failing.error;
  }

  async function look(): Promise<void> {
    const startedAt = clock.steady();
    try {
      const names = await storage.names();
      if (names.join() !== loadedNames) await load();
      failing = undefined;
    } catch (error) {
      if (!isOutOfResources(error)) throw error;
      failing ??= { since: startedAt, error };
    }
    checkedAt = startedAt;
  }

  /** Reads the keys that are not known yet, all of them: a key that was left out would lock out its holder. */
  async function load(): Promise<void> {
    const number = ++loadsBegun;
    const changes: KeyChange[] = [];
    loads.add(changes);
    try {
      const names = await storage.names();
      const loaded = await mapAtOnce(names, baseLimits.filesAtOnceMax, async (name) => ({
        name,
        key: known.byName.get(name) ?? (await readKey(name)),
      }));
      if (number < loadApplied) return;
      loadApplied = number;
      const byName = new Map(loaded.flatMap(({ name, key }) => (key === undefined ? [] : [[name, key]])));
      for (const each of changes) each(byName);
      known = new KnownKeys(byName);
      loadedNames = changes.length === 0 ? names.join() : undefined;
    } finally {
      loads.delete(changes);
    }
  }

  /** Applies what was stored or removed here, without reading it back. */
  function change(run: KeyChange): void {
    known = known.with(run);
    loadedNames = undefined;
    for (const changes of loads) changes.push(run);
  }

  async function readKey(name: string): Promise<StoredKey | undefined> {
    try {
      const key = parseKeyFile(await storage.read(name));
      reported.delete(name);
      return key;
    } catch (cause) {
      // The key cannot be read at the moment: the known state is kept.
      if (isOutOfResources(cause)) throw cause;
      // The key was revoked after its name was read.
      if (isStoreError(cause, 'not_found') || (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      if (reported.has(name)) return undefined;
      reported.add(name);
      onError(
        new Error(`${storage.describe(name)} is not a key and is ignored: remove it, or make it readable`, { cause }),
      );
      return undefined;
    }
  }

  function reportSurplus(): void {
    for (const [scope, count] of known.countByScope()) {
      if (count <= maxOf(scope)) continue;
      onError(new Error(`${storage.label} has ${count} ${scope}, and ${maxOf(scope)} are allowed: revoke unused keys`));
    }
  }
}

type KeyChange = (keys: Map<string, StoredKey>) => unknown;

function toCredential(key: StoredKey | undefined): Credential | undefined {
  if (key === undefined) return undefined;
  const { id, workspaceId } = key;
  if (key.kind === 'environment') return { kind: key.kind, id, workspaceId, environmentId: key.environmentId };
  const { scopes, directories, engines, expiresAt } = key;
  const isLimited = directories !== undefined || engines !== undefined;
  return {
    kind: key.kind,
    id,
    workspaceId,
    name: key.name,
    ...(scopes === undefined ? {} : { scopes }),
    ...(isLimited ? { limits: { directories, engines } } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** The details of a key for the audit log: neither its secret nor a digest of it. */
function toDetails(key: StoredKey): object {
  if (key.kind === 'environment') return { kind: key.kind, name: key.name, environment_id: key.environmentId };
  const { kind, name, scopes = null, directories = null, engines = null, expiresAt } = key;
  const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  return { kind, name, scopes, directories, engines, expires_at: until };
}

/** The auditor of changes that the server makes on its own. */
function systemAuditor(workspaceId: string): Auditor {
  return (action, target, details) => ({ workspaceId, data: { action, by: { type: 'system' }, target, details } });
}

function maxOf(scope: string): number {
  return scope === API_KEYS ? keyLimits.apiKeysMax : keyLimits.environmentKeysMax;
}

function rotatedElsewhere(id: string): FleetloomError {
  return new FleetloomError({
    code: 'key_rotated',
    kind: 'caller',
    problem: `${id} was rotated or revoked by another process at the same moment`,
    advice: 'use the secret that the other rotation has printed, or list the keys and rotate it again',
  });
}

function tooManyKeys(scope: string): FleetloomError {
  return new FleetloomError({
    code: 'too_many_keys',
    kind: 'caller',
    problem: `there are ${maxOf(scope)} ${scope}, and more are not allowed`,
    advice: 'revoke unused keys',
  });
}
