import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { openKeyDocuments } from './key-shelf.ts';
import { type KeyStorePlace, openKeyStore } from './key-store.ts';
import { checkSecret, openSealedSecret } from './sealed-secret.ts';
import { openSharedSigningKey } from './shared-signing-key.ts';

const places: readonly [string, () => Promise<KeyStorePlace>][] = [
  ['a directory', openDirectory],
  ['the store', async () => ({ shelf: openKeyDocuments(createMemoryStore()) })],
];

describe.each(places)('keys in %s', (_, openPlace) => {
  it('[P50] keys that one process makes or revokes count for every other one within a second', async () => {
    const place = await openPlace();
    const clock = createManualClock(1_000);
    const one = await openKeyStore({ ...place, clock });
    const two = await openKeyStore({ ...place, clock });
    expect(one.firstSecret).toMatch(/^fleetloom_api_/);
    expect(two.firstSecret).toBeUndefined();
    const made = await one.keys.create({ kind: 'environment', name: 'worker', environmentId: 'env_1' });
    clock.advance(limits.apiKeysCheckMs);
    expect(await two.keys.find(made.secret)).toMatchObject({ kind: 'environment', environmentId: 'env_1' });
    expect(await two.keys.findById(made.key.id)).toMatchObject({ id: made.key.id });
    expect((await two.keys.list()).map(({ name }) => name).sort()).toEqual(['first key', 'worker']);
    expect(await two.keys.revoke(made.key.id)).toBe(true);
    expect(await two.keys.revoke(made.key.id)).toBe(false);
    clock.advance(limits.apiKeysCheckMs);
    expect(await one.keys.find(made.secret)).toBeUndefined();
    expect(await one.keys.find(one.firstSecret!)).toMatchObject({ kind: 'api', name: 'first key' });
    const [first] = await one.keys.list();
    expect(await one.keys.revoke(first!.id)).toBe(true);
    expect(await one.keys.list()).toEqual([]);
  });
});

it('[H105] known keys stay valid for 60 s while there are no descriptors to read keys with, and no key is taken for damaged', async () => {
  const clock = createManualClock(1_000);
  const shelf = openKeyDocuments(createMemoryStore());
  let failing: 'names' | 'read' | undefined;
  const failWhen = (what: typeof failing) => {
    if (failing === what) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  const mishaps: unknown[] = [];
  const { keys, firstSecret } = await openKeyStore({
    clock,
    onMishap: (error) => mishaps.push(error),
    shelf: {
      ...shelf,
      names: async () => {
        failWhen('names');
        return await shelf.names();
      },
      read: async (name) => {
        failWhen('read');
        return await shelf.read(name);
      },
    },
  });
  // Another process makes one, and this one cannot read it.
  const { secret } = await (await openKeyStore({ shelf, clock })).keys.create({ kind: 'api', name: 'late' });
  for (const what of ['names', 'read'] as const) {
    failing = what;
    clock.advance(limits.apiKeysCheckMs);
    expect(await keys.find(firstSecret!)).toMatchObject({ name: 'first key' });
    expect(await keys.find(secret)).toBeUndefined();
  }
  clock.advance(limits.apiKeysStaleMs - limits.apiKeysCheckMs - 1);
  expect(await keys.find(firstSecret!)).toMatchObject({ name: 'first key' });
  clock.advance(1);
  for (let count = 0; count < 3; count++) await expect(keys.find(firstSecret!)).rejects.toThrow('EMFILE');
  failing = undefined;
  clock.advance(limits.apiKeysCheckMs);
  expect(await keys.find(firstSecret!)).toMatchObject({ name: 'first key' });
  expect(await keys.find(secret)).toMatchObject({ name: 'late' });
  expect(mishaps).toEqual([]);
});

it('[P51] of nodes that start at once on an empty database one makes the first key, and all have the same signing key', async () => {
  const store = createMemoryStore();
  const opened = await Promise.all(
    Array.from({ length: 5 }, () => openKeyStore({ shelf: openKeyDocuments(store), onMishap: () => {} })),
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
  expect(checkSecret('s'.repeat(limits.nodeSecretCharsMin))).toHaveLength(32);
  expect(() => checkSecret('s'.repeat(limits.nodeSecretCharsMin - 1))).toThrow(
    'has 31 characters, and needs at least 32',
  );
  for (const none of [undefined, '']) expect(() => checkSecret(none)).toThrow('run `openssl rand -base64 32` once');
});

const SECRET = 'a secret that all nodes were given';

async function openDirectory(): Promise<KeyStorePlace> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-keys-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { directory };
}
