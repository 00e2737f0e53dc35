import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { openKeyDocuments } from './key-shelf.ts';
import { type KeyStorePlace, openKeyStore } from './key-store.ts';
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

it('[P51] of nodes that start at once on an empty database one makes the first key, and all have the same signing key', async () => {
  const store = createMemoryStore();
  const opened = await Promise.all(
    Array.from({ length: 5 }, () => openKeyStore({ shelf: openKeyDocuments(store), onMishap: () => {} })),
  );
  const secrets = opened.flatMap(({ firstSecret }) => firstSecret ?? []);
  expect(secrets).toHaveLength(1);
  for (const { keys } of opened) expect(await keys.list()).toHaveLength(1);
  expect(JSON.stringify(await store.documents.get('api_key', 'first'))).not.toContain(secrets[0]);
  const signing = await Promise.all(Array.from({ length: 5 }, () => openSharedSigningKey(store)));
  expect(new Set(signing.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(signing[0]).toHaveLength(32);
  await store.documents.put({ kind: 'secret', id: 'signing_key', data: { key: 'x' } });
  await expect(openSharedSigningKey(store)).rejects.toMatchObject({ code: 'signing_key_broken' });
});

async function openDirectory(): Promise<KeyStorePlace> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-keys-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { directory };
}
