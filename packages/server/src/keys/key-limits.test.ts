import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { parseKeyFile, toKeyFile } from './key-file.ts';
import { createKeyDocuments, type KeyStorage, openKeyDirectory } from './key-storage.ts';
import { openKeyStore } from './key-store.ts';
import { keyLimits } from './limits.ts';

const storages = [
  ['a directory', async () => await openKeyDirectory(await openFolder())],
  ['the store', async () => createKeyDocuments(createMemoryStore())],
] as const;

async function openFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-keys-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'keys');
}

describe.each(storages)('limits of keys in %s', (_, open) => {
  it('[ID6] a rotated key keeps its id and limits, and its old secrets work until their overlap ends', async () => {
    const clock = createManualClock(1_000);
    const storage = await open();
    const [{ keys }, { keys: other }] = [
      await openKeyStore({ storage, clock }),
      await openKeyStore({ storage, clock }),
    ];
    const limits = { scopes: ['read'], directories: ['/srv'], engines: ['codex'], expiresAt: 10_000_000 } as const;
    const made = await keys.create({ kind: 'api', name: 'mine', ...limits });
    const secrets = [made.secret];
    for (let count = 0; count < keyLimits.keyPreviousMax + 1; count++) {
      secrets.push((await keys.rotate(made.key.id, { overlapMs: 5_000 }))!.secret);
      clock.advance(1);
    }
    clock.advance(keyLimits.apiKeysCheckMs);
    const found = await Promise.all(secrets.map((secret) => other.find(secret)));
    expect(found.map((each) => each?.id)).toEqual([undefined, ...Array(6).fill(made.key.id)]);
    expect(found.at(-1)).toMatchObject({ scopes: ['read'], limits: { directories: ['/srv'], engines: ['codex'] } });
    clock.advance(5_000);
    expect(await keys.find(secrets.at(-2)!)).toBeUndefined();
    expect(await keys.find(secrets.at(-1)!)).toBeDefined();
    const { secret } = (await keys.rotate(made.key.id, { overlapMs: 0 }))!;
    expect(await keys.find(secrets.at(-1)!)).toBeUndefined();
    expect((await other.list()).map(({ name }) => name).toSorted()).toEqual(['first key', 'mine']);
    expect(await keys.rotate('key_none')).toBeUndefined();
    clock.advance(10_000_000);
    expect(await keys.find(secret)).toBeUndefined();
    expect(await keys.findById(made.key.id)).toBeUndefined();
  });

  it('[ID49] a key that is revoked while another process rotates it stays revoked', async () => {
    const storage = await open();
    const { keys: other } = await openKeyStore({ storage });
    /** What another process does before the next change is stored. */
    let interruption: (() => Promise<unknown>) | undefined;
    const interrupt = async () => {
      const run = interruption;
      interruption = undefined;
      await run?.();
    };
    const racing: KeyStorage = {
      ...storage,
      add: async (...key) => {
        await interrupt();
        return await storage.add(...key);
      },
      remove: async (...name) => {
        await interrupt();
        await storage.remove(...name);
      },
    };
    const { keys } = await openKeyStore({ storage: racing });
    const { key: first } = await other.create({ kind: 'api', name: 'first' });
    interruption = () => other.revoke(first.id);
    expect(await codeOf(keys.rotate(first.id))).toBe('key_rotated');
    const { key: second } = await other.create({ kind: 'api', name: 'second' });
    interruption = () => other.rotate(second.id);
    expect(await keys.revoke(second.id)).toBe(true);
    for (const { keys: each } of [await openKeyStore({ storage }), { keys }]) {
      expect((await each.list()).map(({ name }) => name)).toEqual(['first key']);
    }
    expect(await keys.revoke(second.id)).toBe(false);
  });

  it('[ID6] of two processes that rotate a key at the same moment one is rejected, and the secret of the other works', async () => {
    const storage = await open();
    const stores = [await openKeyStore({ storage }), await openKeyStore({ storage })].map(({ keys }) => keys);
    const { key } = await stores[0]!.create({ kind: 'api', name: 'mine' });
    const secrets: string[] = [];
    const codes = await Promise.all(
      stores.map((keys) => codeOf(keys.rotate(key.id).then((rotated) => secrets.push(rotated!.secret)))),
    );
    expect(codes.toSorted()).toEqual(secrets.length === 1 ? ['key_rotated', 'ok'] : ['ok', 'ok']);
    expect(await (await openKeyStore({ storage })).keys.find(secrets.at(-1)!)).toMatchObject({ id: key.id });
  });

  it('[ID7] the last use is the same for every process, and kept where a write fails', async () => {
    const clock = createManualClock(1_000_000);
    const storage = await open();
    let isBroken = true;
    const writeUses = async (uses: ReadonlyMap<string, number>) => {
      if (isBroken) throw new Error('the disk is full');
      await storage.writeUses(uses);
    };
    const { keys, firstSecret } = await openKeyStore({ storage: { ...storage, writeUses }, clock });
    const { id } = (await keys.list())[0]!;
    await keys.find(firstSecret!);
    clock.advance(keyLimits.keyUseStepMs - 1);
    await keys.find(firstSecret!);
    await expect(keys.saveUses()).rejects.toThrow('the disk is full');
    isBroken = false;
    await keys.saveUses();
    const again = (await openKeyStore({ storage, clock })).keys;
    expect(await again.lastUses()).toEqual(new Map([[id, 1_000_000]]));
    clock.advance(1);
    await again.find(firstSecret!);
    await again.saveUses();
    expect((await keys.lastUses()).get(id)).toBe(1_000_000 + keyLimits.keyUseStepMs);
    expect([keyLimits.keyUseStepMs, keyLimits.keyUseWriteMs]).toEqual([10_000, 5_000]);
  });
});

it('[ID6] only keys with limits are stored in a form that older servers refuse, and unknown limits are refused', () => {
  const plain = {
    kind: 'api',
    id: 'key_1',
    name: 'a',
    workspaceId: 'w',
    sha256: 'a'.repeat(64),
    createdAt: 1,
  } as const;
  expect(JSON.parse(toKeyFile(plain))).toEqual({ version: 1, ...plain });
  const limited = { ...plain, scopes: ['read'] } as const;
  expect(JSON.parse(toKeyFile(limited))).toMatchObject({ version: 2 });
  expect(parseKeyFile(toKeyFile(limited))).toEqual(limited);
  const unknown = JSON.stringify({ version: 2, ...limited, onlyOnTuesdays: true });
  expect(() => parseKeyFile(unknown)).toThrow();
});
