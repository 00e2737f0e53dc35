import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { keyLimits } from './limits.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { type StoredKey, toKeyFile } from './key-file.ts';
import { createKeyDocuments, type KeyStorage, openKeyDirectory } from './key-storage.ts';
import { type KeyLocation, type KeyStore, openKeyStore } from './key-store.ts';
import { checkSecret, openSealedSecret } from './sealed-secret.ts';
import { digestOf } from './secret.ts';
import { openSharedSigningKey } from './shared-signing-key.ts';

const locations: readonly [string, () => Promise<KeyLocation>][] = [
  ['a directory', openDirectory],
  ['the store', async () => ({ storage: createKeyDocuments(createMemoryStore()) })],
];

describe.each(locations)('keys in %s', (_, openLocation) => {
  it('[P50] keys that one process makes or revokes count for every other one within a second', async () => {
    const location = await openLocation();
    const clock = createManualClock(1_000);
    const one = await openKeyStore({ ...location, clock });
    const two = await openKeyStore({ ...location, clock });
    expect(one.firstSecret).toMatch(/^fleetloom_api_/);
    expect(two.firstSecret).toBeUndefined();
    const made = await one.keys.create({ kind: 'environment', name: 'worker', environmentId: 'env_1' });
    clock.advance(keyLimits.apiKeysCheckMs);
    expect(await two.keys.find(made.secret)).toMatchObject({ kind: 'environment', environmentId: 'env_1' });
    expect(await two.keys.findById(made.key.id)).toMatchObject({ id: made.key.id });
    expect((await two.keys.list()).map(({ name }) => name).sort()).toEqual(['first key', 'worker']);
    expect(await two.keys.revoke(made.key.id)).toBe(true);
    expect(await two.keys.revoke(made.key.id)).toBe(false);
    clock.advance(keyLimits.apiKeysCheckMs);
    expect(await one.keys.find(made.secret)).toBeUndefined();
    expect(await one.keys.find(one.firstSecret!)).toMatchObject({ kind: 'api', name: 'first key' });
    const [first] = await one.keys.list();
    expect(await one.keys.revoke(first!.id)).toBe(true);
    expect(await one.keys.list()).toEqual([]);
  });

  it('[H160] of parallel creates at the limit as many succeed as there is room for, counted for each workspace and across processes', async () => {
    const location = await openLocation();
    const stores = [(await openKeyStore(location)).keys, (await openKeyStore(location)).keys] as const;
    const make = (keys: KeyStore, workspaceId: string) =>
      codeOf(keys.create({ kind: 'environment', name: 'worker', workspaceId, environmentId: 'env_1' }));
    // One process has a directory alone; nodes share the store.
    const [one, other] = 'directory' in location ? [stores[0], stores[0]] : stores;
    const room = 5;
    for (let count = 0; count < keyLimits.environmentKeysMax - room; count++) await make(one, 'w1');
    const codes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => make(index % 2 === 0 ? one : other, 'w1')),
    );
    expect(codes.sort()).toEqual([
      ...Array.from({ length: room }, () => 'ok'),
      ...Array.from({ length: 20 - room }, () => 'too_many_keys'),
    ]);
    // Other workspaces and the operator have room of their own.
    expect(await make(other, 'w2')).toBe('ok');
    expect(await codeOf(one.create({ kind: 'api', name: 'operator' }))).toBe('ok');
    const [revoked] = (await other.list()).filter(({ workspaceId }) => workspaceId === 'w1');
    expect(await one.revoke(revoked!.id)).toBe(true);
    expect([await make(other, 'w1'), await make(one, 'w1')]).toEqual(['ok', 'too_many_keys']);
    expect(keyLimits.environmentKeysMax).toBe(200);
  });

  it('[H161] more keys than the limit are all loaded, and the surplus is reported', async () => {
    const storage = await toStorage(await openLocation());
    const { keys, firstSecret } = await openKeyStore({ storage });
    const { key } = await keys.create({ kind: 'environment', name: 'a', workspaceId: 'w1', environmentId: 'env_1' });
    const secrets: string[] = [firstSecret!];
    for (let count = 0; count < keyLimits.environmentKeysMax; count++) {
      const secret = `fleetloom_environment_${count}`;
      const copy: StoredKey = { ...key, id: `key_${count}`, sha256: digestOf(secret).toString('hex') };
      await storage.add(copy.id, toKeyFile(copy));
      secrets.push(secret);
    }
    const errors: string[] = [];
    const again = await openKeyStore({ storage, onError: ({ message }) => errors.push(message) });
    for (const secret of secrets) expect(await again.keys.find(secret)).toBeDefined();
    expect(errors).toEqual([
      `${storage.label} has 201 environment keys of w1, and 200 are allowed: revoke unused keys`,
    ]);
  });

  it('[H162] creating, revoking and listing keys reads no key again', async () => {
    const storage = await toStorage(await openLocation());
    let reads = 0;
    const counting = { ...storage, read: (name: string) => (reads++, storage.read(name)) };
    const { keys } = await openKeyStore({ storage: counting });
    const made = await keys.create({ kind: 'api', name: 'a' });
    await keys.create({ kind: 'api', name: 'b' });
    expect(await keys.find(made.secret)).toBeDefined();
    await keys.revoke(made.key.id);
    expect(await keys.find(made.secret)).toBeUndefined();
    expect((await keys.list()).map(({ name }) => name).sort()).toEqual(['b', 'first key']);
    expect(reads).toBe(0);
  });
});

it('[H162] a load that began before a key was created or revoked here does not undo it', async () => {
  const storage = createKeyDocuments(createMemoryStore());
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const slow = {
    ...storage,
    names: async () => {
      const names = await storage.names();
      if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
      return names;
    },
  };
  const { keys, firstSecret } = await openKeyStore({ storage: slow });
  const kept = await keys.create({ kind: 'api', name: 'kept' });
  isSlow = true;
  const listing = keys.list();
  await expect.poll(() => waiting.length).toBe(1);
  isSlow = false;
  const made = await keys.create({ kind: 'api', name: 'made' });
  await keys.revoke(kept.key.id);
  waiting[0]!();
  await listing;
  for (const secret of [firstSecret!, made.secret]) expect(await keys.find(secret)).toBeDefined();
  expect(await keys.find(kept.secret)).toBeUndefined();
});

it('[H160] room that a node reserved and never used is free again after 60 s', async () => {
  const clock = createManualClock(1_000);
  const { reserve } = createKeyDocuments(createMemoryStore({ clock }), clock);
  const tryOne = async () => (await reserve('w1', async (reserved) => reserved < 1)) !== undefined;
  expect([await tryOne(), await tryOne()]).toEqual([true, false]);
  clock.advance(keyLimits.keyReservationMs - 1);
  expect(await tryOne()).toBe(false);
  clock.advance(1);
  expect(await tryOne()).toBe(true);
  expect(keyLimits.keyReservationMs).toBe(60_000);
});

it('[H105] known keys stay valid for 60 s while there are no descriptors to read keys with, and no key is taken for damaged', async () => {
  const clock = createManualClock(1_000);
  const storage = createKeyDocuments(createMemoryStore());
  let failing: 'names' | 'read' | undefined;
  const failWhen = (what: typeof failing) => {
    if (failing === what) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  const errors: unknown[] = [];
  const { keys, firstSecret } = await openKeyStore({
    clock,
    onError: (error) => errors.push(error),
    storage: {
      ...storage,
      names: async () => {
        failWhen('names');
        return await storage.names();
      },
      read: async (name) => {
        failWhen('read');
        return await storage.read(name);
      },
    },
  });
  // Another process makes one, and this one cannot read it.
  const { secret } = await (await openKeyStore({ storage, clock })).keys.create({ kind: 'api', name: 'late' });
  for (const what of ['names', 'read'] as const) {
    failing = what;
    clock.advance(keyLimits.apiKeysCheckMs);
    expect(await keys.find(firstSecret!)).toMatchObject({ name: 'first key' });
    expect(await keys.find(secret)).toBeUndefined();
  }
  clock.advance(keyLimits.apiKeysStaleMs - keyLimits.apiKeysCheckMs - 1);
  expect(await keys.find(firstSecret!)).toMatchObject({ name: 'first key' });
  clock.advance(1);
  for (let count = 0; count < 3; count++) await expect(keys.find(firstSecret!)).rejects.toThrow('EMFILE');
  failing = undefined;
  clock.advance(keyLimits.apiKeysCheckMs);
  expect(await keys.find(firstSecret!)).toMatchObject({ name: 'first key' });
  expect(await keys.find(secret)).toMatchObject({ name: 'late' });
  expect(errors).toEqual([]);
});

it('[P51] of nodes that start at once on an empty database one makes the first key, and all have the same signing key', async () => {
  const store = createMemoryStore();
  const opened = await Promise.all(
    Array.from({ length: 5 }, () => openKeyStore({ storage: createKeyDocuments(store), onError: () => {} })),
  );
  const secrets = opened.flatMap(({ firstSecret }) => firstSecret ?? []);
  expect(secrets).toHaveLength(1);
  for (const { keys } of opened) expect(await keys.list()).toHaveLength(1);
  expect(JSON.stringify(await store.documents.get('api_key', 'first'))).not.toContain(secrets[0]);
  const signing = await Promise.all(Array.from({ length: 5 }, () => openSharedSigningKey(store, SECRET)));
  expect(new Set(signing.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(signing[0]).toHaveLength(32);
});

it('[P100] the database alone does not have the signing key, and with another secret it is not opened', async () => {
  const store = createMemoryStore();
  const key = await openSharedSigningKey(store, SECRET);
  const kept = JSON.stringify(await store.documents.get('secret', 'signing_key'));
  for (const form of ['hex', 'base64', 'base64url'] as const) {
    expect(kept).not.toContain(Buffer.from(key).toString(form).slice(0, 20));
  }
  expect(await openSharedSigningKey(store, SECRET)).toEqual(key);
  await expect(openSharedSigningKey(store, `${SECRET}x`)).rejects.toThrow(
    'FLEETLOOM_SECRET is not the one that signing_key in the database was sealed with: set the value that the other nodes have',
  );
  // What one document has does not pass for another.
  await store.documents.put({ kind: 'secret', id: 'webhook_key', data: JSON.parse(kept).data });
  const make = () => 'new';
  const other = openSealedSecret(store, { id: 'webhook_key', secret: SECRET, make, ifInClear: 'sealed' });
  await expect(other).rejects.toMatchObject({ code: 'node_secret_wrong' });
});

it('[P101] a signing key that an older version kept in the clear is replaced, and a webhook key is sealed as it is', async () => {
  const store = createMemoryStore();
  const old = 'ab'.repeat(32);
  await store.documents.put({ kind: 'secret', id: 'signing_key', data: { key: old } });
  await store.documents.put({ kind: 'secret', id: 'webhook_key', data: { key: 'whsec_old' } });
  const keys = await Promise.all(Array.from({ length: 3 }, () => openSharedSigningKey(store, SECRET)));
  expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(Buffer.from(keys[0]!).toString('hex')).not.toBe(old);
  const webhook = { id: 'webhook_key', secret: SECRET, make: () => 'new', ifInClear: 'sealed' } as const;
  expect(await openSealedSecret(store, webhook)).toEqual({ text: 'whsec_old', isNew: false });
  const kept = JSON.stringify(await store.documents.getAll('secret', ['signing_key', 'webhook_key']));
  expect(kept).not.toContain(old);
  expect(kept).not.toContain('whsec_old');
});

it('[P100] a secret has at least 32 characters, and a missing one is refused with how to make it', () => {
  expect(checkSecret('s'.repeat(keyLimits.nodeSecretCharsMin))).toHaveLength(32);
  expect(() => checkSecret('s'.repeat(keyLimits.nodeSecretCharsMin - 1))).toThrow(
    'has 31 characters, and needs at least 32',
  );
  for (const none of [undefined, '']) expect(() => checkSecret(none)).toThrow('run `openssl rand -base64 32` once');
});

const SECRET = 'a secret that all nodes were given';

async function toStorage(location: KeyLocation): Promise<KeyStorage> {
  return 'storage' in location ? location.storage : await openKeyDirectory(location.directory);
}

async function openDirectory(): Promise<KeyLocation> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-keys-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { directory };
}
